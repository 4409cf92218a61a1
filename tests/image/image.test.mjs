// Issue 6: what is in the image, and how it runs where nothing may be written and nothing is allowed.
import assert from "node:assert/strict";
import { lstat, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { test } from "node:test";
import { run } from "../e2e/support/child.mjs";
import { connectClient } from "../e2e/support/client.mjs";
import { borrow } from "../e2e/support/fixture.mjs";
import { startFreshet } from "../e2e/support/freshet.mjs";
import { SdkServer } from "../e2e/support/sdk-server.mjs";

const { IMAGE_FOLDER: folder, IMAGE_ROOT: root } = process.env;
const SIZE_MAX = 40e6;
const USER = "65532";
const A = "note://a";

const settings = async () => JSON.parse(await readFile(path.join(folder, "config.json"), "utf8"));
const runc = async (...args) => {
  const { code, output } = await run("runc", ["--root", path.join(folder, "runc"), ...args]);
  return { code, output };
};

async function files() {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const all = entries.filter((entry) => !entry.isDirectory()).map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
  return Promise.all(all.map(async (file) => ({ file: path.relative(root, file), ...(await lstat(file)) })));
}

test("holds the binary, the libraries that it loads, certificates, names, and nothing else", async () => {
  const expected = [/^usr\/bin\/freshet$/, /^lib(64)?\/([\w-]+\/)?[\w.+-]+\.so[\w.]*$/, /^etc\/(passwd|group|nsswitch\.conf)$/,
    /^etc\/ssl\/certs\/ca-certificates\.crt$/, /^usr\/lib\/ssl\/cert\.pem$/];
  const found = await files();
  assert.deepEqual(found.map(({ file }) => file).filter((file) => !expected.some((pattern) => pattern.test(file))), []);
  assert.deepEqual(found.filter(({ mode }) => mode & 0o6000).map(({ file }) => file), [], "set-user-id");
  const certificates = await readFile(path.join(root, "etc/ssl/certs/ca-certificates.crt"), "utf8");
  assert.match(certificates, /BEGIN CERTIFICATE/);
});

test("weighs less than 40 MB", async (t) => {
  const bytes = (await files()).reduce((sum, { size }) => sum + size, 0);
  t.diagnostic(`the image: ${(bytes / 1e6).toFixed(1)} MB`);
  assert.ok(bytes < SIZE_MAX, `${bytes} bytes`);
});

test("says itself who runs what, and how its health is asked", async () => {
  const { User, Entrypoint, Healthcheck, ExposedPorts } = await settings();
  assert.equal(User, `${USER}:${USER}`);
  assert.deepEqual(Entrypoint, ["/usr/bin/freshet"]);
  assert.deepEqual(Healthcheck.Test, ["CMD", "/usr/bin/freshet", "health"]);
  assert.deepEqual(Object.keys(ExposedPorts).sort(), ["7300/tcp", "7301/tcp"]);
});

test("runs read-only and unprivileged, is healthy, tells of a change, and drains", async (t) => {
  const own = borrow(t);
  const name = "under-test";
  const server = await own(SdkServer.start({ contents: { [A]: "one" } }));
  const freshet = await own(startFreshet({ upstream: server.url, env: { IMAGE_CONTAINER: name } }));

  const { pid } = JSON.parse((await runc("state", name)).output);
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  assert.match(status, new RegExp(`^Uid:(\\t${USER}){4}$`, "m"));
  assert.match(status, new RegExp(`^Gid:(\\t${USER}){4}$`, "m"));
  for (const set of ["CapPrm", "CapEff", "CapBnd", "CapAmb"]) assert.match(status, new RegExp(`^${set}:\\t0+$`, "m"));
  assert.match(status, /^NoNewPrivs:\t1$/m);
  assert.match(await readFile(`/proc/${pid}/mountinfo`, "utf8"), /^\S+ \S+ \S+ \S+ \/ ro[, ]/m);

  const { Healthcheck: { Test: [, ...command] } } = await settings();
  const { code, output } = await runc("exec", name, ...command, "--admin", new URL(freshet.admin).host);
  assert.equal(code, 0, output);

  const client = await own(connectClient(freshet.url()), (c) => c.close());
  await client.client.subscribeResource({ uri: A });
  server.set(A, "two");
  await client.updated(A);
  assert.equal(await client.text(A), "two");
  await client.close();
  assert.deepEqual(await freshet.stop(), { code: 0, signal: null });
});
