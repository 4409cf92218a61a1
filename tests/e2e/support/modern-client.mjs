// Clients of 2026-07-28: the official SDK's, unmodified, with what it was told kept in a journal; and one at the level
// of HTTP requests, for what the SDK's does not show.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { EventStream, exchange, messagesOf, send } from "./session.mjs";
import { Journal } from "./until.mjs";

export const MODERN = "2026-07-28";
const KEY = "io.modelcontextprotocol/";
export const SUBSCRIPTION_ID = `${KEY}subscriptionId`;

/** `mode`: the SDK's `versionNegotiation.mode`. */
export async function connectModern(url, { mode = { pin: MODERN }, capabilities = {}, headers = {} } = {}) {
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
  const client = new Client({ name: "freshet-e2e", version: "1" }, { capabilities, versionNegotiation: { mode } });
  const told = new Journal();
  for (const method of ["notifications/resources/updated", "notifications/resources/list_changed"]) {
    client.setNotificationHandler(method, ({ params }) => {
      told.push({ method, uri: params?.uri, params, at: performance.now() });
    });
  }
  await client.connect(transport);
  return {
    client,
    told,
    listen: (filter) => client.listen(filter),
    updated: (uri, options) => told.find((entry) => entry.uri === uri, { what: `an update of ${uri}`, ...options }),
    updates: (uri) => told.count((entry) => entry.uri === uri),
    // The SDK's own cache would hide what crosses the network.
    text: async (uri) => (await client.readResource({ uri }, { cacheMode: "bypass" })).contents[0].text,
    close: () => client.close(),
  };
}

/** A request as the transport wants it: the body, and the header fields that mirror it. */
export function modernRequest(method, params = {}, { id = 1, version = MODERN, headers = {} } = {}) {
  const meta = {
    [`${KEY}protocolVersion`]: version,
    [`${KEY}clientInfo`]: { name: "freshet-e2e", version: "1" },
    [`${KEY}clientCapabilities`]: {},
  };
  const name = params.uri ?? params.name;
  const mirrored = { "MCP-Protocol-Version": version, "Mcp-Method": method, ...(name ? { "Mcp-Name": name } : {}) };
  return {
    headers: Object.fromEntries(Object.entries({ ...mirrored, ...headers }).filter(([, value]) => value !== undefined)),
    body: { jsonrpc: "2.0", id, method, params: { ...params, _meta: meta } },
  };
}

/** One request and its whole answer; `message` is the JSON-RPC response in it, where there is one. */
export async function ask(url, method, params, options) {
  const answer = await exchange(url, modernRequest(method, params, options));
  const speaks = answer.text && /json|event-stream/.test(answer.headers["content-type"]);
  return { ...answer, message: speaks ? messagesOf(answer).at(-1) : undefined };
}

/** A listen stream at the level of events. */
export async function openListen(url, notifications, options) {
  return new EventStream(await send(url, modernRequest("subscriptions/listen", { notifications }, options)));
}

export const watching = (...uris) => ({ resourceSubscriptions: uris });
export const isAcknowledged = ({ message }) => message?.method === "notifications/subscriptions/acknowledged";
export const subscriptionOf = ({ message }) => (message.params ?? message.result)._meta[SUBSCRIPTION_ID];
