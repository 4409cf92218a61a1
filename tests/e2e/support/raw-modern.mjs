// A modern upstream scripted in bytes: what each method is answered, with defaults for discover and read.
import { SUBSCRIPTION_ID } from "./modern-client.mjs";
import { reply, startRawUpstream, STREAM_HEAD } from "./raw-upstream.mjs";

export const result = (id, fields) =>
  reply("200 OK", JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...fields } }));
export const failed = (status, id, code, message, data) =>
  reply(status, JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } }));
export const frame = (message) => `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`;
export const notice = (id, method, params = {}) =>
  frame({ method, params: { ...params, _meta: { [SUBSCRIPTION_ID]: id } } });
export const acknowledgement = (id, notifications) =>
  notice(id, "notifications/subscriptions/acknowledged", { notifications });
export { STREAM_HEAD };

/**
 * `answers`: by method, from (request message, socket, headers) to bytes. `resources`: what discover declares of them.
 * `texts` (by URI) may be changed at any time.
 */
export async function startRawModern({ resources = { subscribe: true }, texts = {}, answers = {} } = {}) {
  const usual = {
    "server/discover": ({ id }) =>
      result(id, { supportedVersions: ["2026-07-28"], capabilities: { resources }, ttlMs: 0, cacheScope: "private" }),
    "resources/read": ({ id, params: { uri } }) =>
      uri in texts
        ? result(id, { contents: [{ uri, text: texts[uri] }], ttlMs: 0, cacheScope: "private" })
        : failed("200 OK", id, -32602, "Resource not found", { uri }),
  };
  const upstream = await startRawUpstream(({ message, headers }, socket) => {
    const answer = answers[message?.method] ?? usual[message?.method];
    return answer ? answer(message, socket, headers) : failed("404 Not Found", message?.id, -32601, "Method not found");
  });
  upstream.texts = texts;
  upstream.count = (method, uri) => upstream.requests.count(({ message }) => asks(message, method, uri));
  upstream.asked = (method, uri, options) =>
    upstream.requests.find(({ message }) => asks(message, method, uri), { what: `${method} ${uri ?? ""}`, ...options });
  return upstream;
}

const asks = (message, method, uri) => message?.method === method && (!uri || message.params.uri === uri);
