// The SDK's own authorization, both sides, with Freshet between: what `public_url` is for.
import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, test } from "node:test";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { DemoInMemoryAuthProvider } from "@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from "@modelcontextprotocol/sdk/server/auth/router.js";
import express from "express";
import { connectClient } from "./support/client.mjs";
import { borrow } from "./support/fixture.mjs";
import { startFreshet } from "./support/freshet.mjs";
import { BOUND_MS } from "./support/lag.mjs";
import { startRelay } from "./support/relay.mjs";
import { SdkServer } from "./support/sdk-server.mjs";
import { exchange } from "./support/session.mjs";

const A = "note://a";
const DISCOVERY = "/.well-known/oauth-protected-resource/mcp";

/** An MCP server and its authorization server, both the SDK's, on one address. */
async function startProtectedServer() {
  const inner = await SdkServer.start({ contents: { [A]: "one" } });
  const app = express();
  const listener = app.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const origin = new URL(`http://127.0.0.1:${listener.address().port}`);
  const url = new URL("/mcp", origin);
  const provider = new DemoInMemoryAuthProvider();
  app.use(mcpAuthRouter({ provider, issuerUrl: origin, resourceServerUrl: url, scopesSupported: ["mcp:notes"] }));
  const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(url);
  app.use("/mcp", requireBearerAuth({ verifier: provider, resourceMetadataUrl }));
  app.use("/mcp", (request, response) => inner.http.emit("request", request, response));
  const stop = async () => {
    listener.close();
    listener.closeAllConnections();
    await inner.stop();
  };
  return { url: url.href, provider, stop, set: (uri, text) => inner.set(uri, text) };
}

/** The user's side: agrees to whatever is asked, at once. */
class AgreeingUser {
  redirectUrl = "http://127.0.0.1/callback";
  clientMetadata = { client_name: "e2e", redirect_uris: [this.redirectUrl], token_endpoint_auth_method: "none" };
  clientInformation = () => this.client;
  saveClientInformation = (client) => { this.client = client; };
  tokens = () => this.token;
  saveTokens = (token) => { this.token = token; };
  codeVerifier = () => this.verifier;
  saveCodeVerifier = (verifier) => { this.verifier = verifier; };

  async redirectToAuthorization(url) {
    const { headers } = await fetch(url, { redirect: "manual" });
    this.asked = url;
    this.code = new URL(headers.get("location")).searchParams.get("code");
  }
}

async function authorise(url) {
  const authProvider = new AgreeingUser();
  await assert.rejects(connectClient(url, { transport: { authProvider } }), UnauthorizedError);
  await new StreamableHTTPClientTransport(new URL(url), { authProvider }).finishAuth(authProvider.code);
  return authProvider;
}

describe("a server with the SDK's authorization, through Freshet", () => {
  // The relay's address, which clients dial, is known before the sidecar starts.
  async function setup(t, { isPublic }) {
    const own = borrow(t);
    const server = await own(startProtectedServer());
    const relay = await own(startRelay());
    const upstream = { name: "notes", url: server.url, ...(isPublic ? { public_url: relay.origin } : {}) };
    const freshet = await own(startFreshet({ config: { upstreams: [upstream] } }));
    relay.target = freshet.origin;
    return { own, server, freshet, url: `${relay.origin}/mcp`, discovery: (origin) => new URL(DISCOVERY, origin) };
  }

  test("discovery passes untouched where no public_url is set, and the SDK's client then refuses it", async (t) => {
    const { server, url, discovery } = await setup(t, { isPublic: false });
    const [direct, through] = await Promise.all(
      [server.url, url].map((origin) => exchange(discovery(origin), { method: "GET" })));
    assert.equal(through.text, direct.text);
    const answer = await exchange(url, { body: { jsonrpc: "2.0", id: 1, method: "ping" } });
    assert.equal(answer.status, 401);
    assert.match(answer.headers["www-authenticate"], new RegExp(new URL(server.url).host));
    await assert.rejects(connectClient(url, { transport: { authProvider: new AgreeingUser() } }),
      /does not match/);
  });

  test("with public_url the client that dialled Freshet authorises, subscribes and is told", async (t) => {
    const { own, server, freshet, url } = await setup(t, { isPublic: true });
    const authProvider = await authorise(url);
    const client = await own(connectClient(url, { transport: { authProvider } }), (one) => one.close());
    assert.equal(await client.text(A), "one");
    await client.client.subscribeResource({ uri: A });
    server.set(A, "two");
    await client.updated(A, { ms: BOUND_MS });
    const log = freshet.log.entries.join("\n");
    assert.ok(!log.includes(authProvider.token.access_token), "the token stands in the log");
  });

  test("with public_url discovery names the address that was dialled, and nothing else changes", async (t) => {
    const { server, url, discovery } = await setup(t, { isPublic: true });
    const [direct, through] = await Promise.all(
      [server.url, url].map(async (origin) => (await exchange(discovery(origin), { method: "GET" })).text));
    assert.equal(JSON.parse(through).resource, url);
    assert.deepEqual({ ...JSON.parse(through), resource: null }, { ...JSON.parse(direct), resource: null });
    const answer = await exchange(url, { body: { jsonrpc: "2.0", id: 1, method: "ping" } });
    assert.equal(answer.status, 401);
    const [, metadata] = answer.headers["www-authenticate"].match(/resource_metadata="([^"]+)"/);
    assert.equal(metadata, discovery(url).href);
  });
});
