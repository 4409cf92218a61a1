// Issue 6: what kubectl makes of deploy/kubernetes, against the types of Kubernetes and of the Prometheus operator.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { parseAllDocuments } from "yaml";
import { run } from "../support/child.mjs";
import { runFreshet } from "../support/freshet.mjs";

const folder = fileURLToPath(new URL("../../../deploy/kubernetes/", import.meta.url));
const sidecar = ({ spec }) => spec.template.spec.initContainers.find(({ name }) => name === "freshet");

async function kustomizeVersion() {
  const { code, output } = await run("kubectl", ["version", "--client", "-o", "json"]);
  return code === 0 ? JSON.parse(output.slice(output.indexOf("{"))).kustomizeVersion : undefined;
}

// Debian 12's own kubectl is older than the sidecars that these manifests are about.
const version = await kustomizeVersion();
const skip = /^v?[5-9]\./.test(version ?? "") ? false : `needs kubectl with kustomize 5, here: ${version ?? "none"}`;

async function rendered(name) {
  const { code, output } = await run("kubectl", ["kustomize", `${folder}${name}`]);
  assert.equal(code, 0, output);
  const documents = parseAllDocuments(output);
  assert.deepEqual(documents.flatMap(({ errors }) => errors), []);
  const objects = documents.map((document) => document.toJS());
  const of = (kind) => objects.find((object) => object.kind === kind) ?? assert.fail(`${name} has no ${kind}`);
  return { objects, of };
}

/** What the compiler says of these objects as literals of their types, unknown fields included. */
function complaints(objects) {
  const name = fileURLToPath(new URL("rendered.ts", import.meta.url));
  const text = objects.map(({ apiVersion, kind, ...rest }) => {
    const models = apiVersion.startsWith("monitoring.coreos.com/") ? "@kubernetes-models/prometheus-operator" : "kubernetes-models";
    const type = `import("${models}/${apiVersion}/${kind}").I${kind}`;
    return `(${JSON.stringify({ apiVersion, kind, ...rest }, null, 1)}) satisfies ${type};`;
  }).join("\n");
  const options = { noEmit: true, strict: true, skipLibCheck: true, types: [], module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler, target: ts.ScriptTarget.ES2022 };
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (file, ...rest) =>
    file === name ? ts.createSourceFile(file, text, options.target) : getSourceFile(file, ...rest);
  const program = ts.createProgram([name], options, host);
  return ts.getPreEmitDiagnostics(program).map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe("deploy/kubernetes", { skip }, () => {
  for (const name of ["base", "overlays/example"]) {
    test(`${name} is made of Kubernetes objects, without a field that they do not have`, async () => {
      assert.deepEqual(complaints((await rendered(name)).objects), []);
    });

    test(`${name} has settings that freshet takes`, async () => {
      const { of } = await rendered(name);
      const { code, output } = await runFreshet(["check", "--config", "freshet.yaml"],
        { files: { "freshet.yaml": of("ConfigMap").data["freshet.yaml"] } });
      assert.equal(code, 0, output);
    });

    test(`${name} runs Freshet as a native sidecar that nobody's rights and no disk belong to`, async () => {
      const { spec: { template: { spec } } } = (await rendered(name)).of("Deployment");
      const freshet = sidecar({ spec: { template: { spec } } });
      assert.equal(freshet.restartPolicy, "Always");
      assert.equal(spec.securityContext.runAsNonRoot, true);
      assert.deepEqual(freshet.securityContext,
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ["ALL"] } });
      assert.deepEqual(Object.keys(freshet.resources).sort(), ["limits", "requests"]);
      for (const probe of ["startupProbe", "readinessProbe", "livenessProbe"]) assert.ok(freshet[probe].httpGet, probe);
      const drain = await drainSeconds();
      assert.ok(spec.terminationGracePeriodSeconds > drain + freshet.lifecycle.preStop.sleep.seconds, "a drain is cut short");
    });

    test(`${name} names nothing that is not there`, async () => {
      const { of } = await rendered(name);
      const deployment = of("Deployment");
      const freshet = sidecar(deployment);
      const { spec, metadata: { labels } } = deployment.spec.template;
      const ports = new Map(freshet.ports.map((port) => [port.name, port.containerPort]));
      const settings = spec.volumes.find((volume) => volume.name === freshet.volumeMounts[0].name);
      assert.equal(settings.configMap.name, of("ConfigMap").metadata.name);
      assert.equal(freshet.volumeMounts[0].subPath, undefined, "a changed ConfigMap would not arrive");
      assert.ok(ports.has(of("Service").spec.ports[0].targetPort));
      assert.ok(ports.has(of("PodMonitor").spec.podMetricsEndpoints[0].port));
      for (const selector of [deployment.spec.selector, of("PodMonitor").spec.selector, of("NetworkPolicy").spec.podSelector]) {
        assert.deepEqual(selector.matchLabels, labels);
      }
      assert.deepEqual(of("NetworkPolicy").spec.ingress.map(({ ports: [{ port }] }) => port), [...ports.values()]);
    });
  }

  test("the overlay brings the secret that the sidecar asks for", async () => {
    const { of } = await rendered("overlays/example");
    const { secretKeyRef } = sidecar(of("Deployment")).env[0].valueFrom;
    assert.equal(of("Secret").metadata.name, secretKeyRef.name);
    assert.ok(secretKeyRef.key in of("Secret").data);
  });

  test("a field that is not Kubernetes' is found", async () => {
    const { of } = await rendered("base");
    const [deployment, monitor] = [of("Deployment"), of("PodMonitor")];
    sidecar(deployment).restartPolcy = "Always";
    monitor.spec.podMetricsEndpoints[0].intervall = "15s";
    const found = complaints([deployment, monitor]).join("\n");
    for (const field of ["restartPolcy", "intervall"]) assert.match(found, new RegExp(`${field}\\W+ does not exist`));
  });
});

// The default, from the file that documents it.
async function drainSeconds() {
  const example = await readFile(fileURLToPath(new URL("../../../config/freshet.example.yaml", import.meta.url)), "utf8");
  return Number(example.match(/^#? ?drain_time_max: (\d+)s$/m)[1]);
}
