// Where Freshet listens and what it connects to: TLS with a CA of one's own, Unix sockets.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import os from "node:os";
import path from "node:path";
import { before, after, describe, test } from "node:test";
import { run } from "./support/child.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { SdkServer } from "./support/sdk-server.mjs";
import { exchange, PROTOCOL } from "./support/session.mjs";

const params = { protocolVersion: PROTOCOL, capabilities: {}, clientInfo: { name: "probe", version: "1" } };
const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
const headers = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };

async function post(client, options) {
  const request = client.request({ method: "POST", path: "/mcp", headers, ...options });
  request.end(body);
  const [response] = await once(request, "response");
  const chunks = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
}

describe("TLS", () => {
  let folder, cert, key;

  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "freshet-tls-"));
    [cert, key] = ["cert.pem", "key.pem"].map((name) => path.join(folder, name));
    const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const { code, output } = await run("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
      "-nodes", "-days", "2", "-keyout", key, "-out", cert, ...names]);
    assert.equal(code, 0, output);
  });

  after(() => rm(folder, { recursive: true, force: true }));

  async function startSecureServer(own) {
    const inner = await own(SdkServer.start());
    const names = [];
    const pair = { cert: await readFile(cert), key: await readFile(key) };
    const outer = https.createServer(pair, (...exchanged) => inner.http.emit("request", ...exchanged));
    outer.on("secureConnection", (socket) => names.push(socket.servername));
    outer.listen(0, "127.0.0.1");
    await once(outer, "listening");
    await own(Promise.resolve(outer), () => (outer.close(), outer.closeAllConnections()));
    return { url: `https://localhost:${outer.address().port}/mcp`, requests: inner.requests, names };
  }

  test("to an upstream is verified with the given CA, and names the server", async (t) => {
    const own = borrow(t);
    const server = await startSecureServer(own);
    const upstreams = [{ name: "secure", url: server.url, tls: { ca_file: cert } }];
    const freshet = await own(startFreshet({ config: { upstreams } }));
    const { status, text } = await exchange(freshet.url(), { body });
    assert.equal(status, 200, text);
    assert.match(text, /"subscribe":true/);
    assert.deepEqual(server.names, ["localhost"]);
  });

  test("to an upstream that cannot be verified is refused, and nothing is sent to it", async (t) => {
    const own = borrow(t);
    const server = await startSecureServer(own);
    const freshet = await own(startFreshet({ upstream: server.url }));
    const { status } = await exchange(freshet.url(), { body });
    assert.ok(status === 502 || status === 503, `answered ${status}`);
    assert.equal(server.requests.length, 0);
  });

  test("serves clients with the given certificate", async (t) => {
    const own = borrow(t);
    const server = await own(SdkServer.start());
    const listen = { tls: { cert_file: cert, key_file: key } };
    const freshet = await own(startFreshet({ config: { listen, upstreams: [{ name: "plain", url: server.url }] } }));
    const ca = await readFile(cert);
    const { status, text } = await post(https, { host: "localhost", port: new URL(freshet.origin).port, ca });
    assert.equal(status, 200, text);
  });
});

test("a Unix socket serves clients, and is gone when Freshet is", async (t) => {
  const own = borrow(t);
  const folder = await own(mkdtemp(path.join(os.tmpdir(), "freshet-unix-")), (one) => rm(one, { recursive: true }));
  const socketPath = path.join(folder, "freshet.sock");
  const server = await own(SdkServer.start());
  const freshet = await own(startFreshet({ upstream: server.url, args: ["--listen", `unix:${socketPath}`] }));
  const { status, text } = await post(http, { socketPath });
  assert.equal(status, 200, text);
  await freshet.child.stop();
  await assert.rejects(post(http, { socketPath }), { code: "ENOENT" });
});

test("an upstream on a Unix socket is reached", async (t) => {
  const own = borrow(t);
  const folder = await own(mkdtemp(path.join(os.tmpdir(), "freshet-unix-")), (one) => rm(one, { recursive: true }));
  const socketPath = path.join(folder, "server.sock");
  const inner = await own(SdkServer.start());
  const outer = http.createServer((...exchanged) => inner.http.emit("request", ...exchanged));
  outer.listen(socketPath);
  await once(outer, "listening");
  await own(Promise.resolve(outer), () => (outer.close(), outer.closeAllConnections()));
  const freshet = await own(startFreshet({ upstream: `unix:${socketPath}:/mcp` }));
  const { status, text } = await exchange(freshet.url(), { body });
  assert.equal(status, 200, text);
});
