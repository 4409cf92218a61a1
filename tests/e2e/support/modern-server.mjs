// The official SDK's server for 2026-07-28 on Streamable HTTP, with a record of what it was asked. Without `subscribe`
// its resources cannot be listened to; with it, `updated` tells those who listen. `legacy: "stateless"` adds the era of
// sessions on the same endpoint. It can crash and come back on its port, its contents kept.
import { once } from "node:events";
import http from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler, fromJsonSchema, inputRequired, McpServer, ResourceNotFoundError, ResourceTemplate,
} from "@modelcontextprotocol/server";
import { Journal } from "./until.mjs";

export const isRead = (uri) => (entry) => entry.method === "resources/read" && entry.uri === uri;
/** A read that Freshet makes for itself: its ids are strings of a form of their own. */
export const isPoll = (uri) => (entry) => isRead(uri)(entry) && /^freshet-/.test(entry.id);
export const isListen = (entry) => entry.method === "subscriptions/listen";

const inputOf = (...names) =>
  fromJsonSchema({ type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])) });

export class ModernServer {
  requests = new Journal();
  contents = new Map();
  #sockets = new Set();

  constructor({ subscribe = false, legacy = "reject", cacheHint, respond } = {}) {
    this.subscribe = subscribe;
    this.cacheHint = cacheHint;
    this.respond = respond;
    this.handler = createMcpHandler(() => this.#mcp(), { legacy });
    this.node = toNodeHandler(this.handler);
  }

  static async start({ contents = {}, ...options } = {}) {
    const server = new ModernServer(options);
    for (const [uri, text] of Object.entries(contents)) server.contents.set(uri, text);
    await server.resume();
    return server;
  }

  async resume() {
    this.http = http.createServer((request, response) => this.#handle(request, response));
    this.http.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
    this.http.listen(this.port ?? 0, "127.0.0.1");
    await once(this.http, "listening");
    this.port = this.http.address().port;
    this.url = `http://127.0.0.1:${this.port}/mcp`;
  }

  /** The process is gone, as far as a network can tell. */
  async crash() {
    const closed = once(this.http, "close");
    this.http.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async stop() {
    if (this.http.listening) await this.crash();
    await this.handler.close();
  }

  set(uri, text) {
    this.contents.set(uri, text);
  }

  /** A change of which those who listen are told. */
  update(uri, text) {
    this.set(uri, text);
    this.handler.notify.resourceUpdated(uri);
  }

  /** The requests of a kind that are still open: their answers have neither ended nor been given up. */
  open(matches) {
    return this.requests.entries.filter((entry) => matches(entry) && entry.closed === false);
  }

  #mcp() {
    const capabilities = { logging: {}, resources: { listChanged: true, ...(this.subscribe ? { subscribe: true } : {}) } };
    const mcp = new McpServer({ name: "notes", version: "2.0.0" }, { capabilities });
    const list = () => ({ resources: [...this.contents.keys()].map((uri) => ({ uri, name: uri })) });
    const note = { mimeType: "text/plain", ...(this.cacheHint ? { cacheHint: this.cacheHint } : {}) };
    mcp.registerResource("note", new ResourceTemplate("note://{+name}", { list }), note, (_, { name }) =>
      this.#note(`note://${name}`));
    mcp.registerResource("form", "form://ask", {}, () => inputRequired({
      inputRequests: { name: inputRequired.elicit({ message: "Who?", requestedSchema: { type: "object", properties: {} } }) },
    }));
    mcp.registerTool("write", { inputSchema: inputOf("uri", "text") }, ({ uri, text }) => {
      this.set(uri, text);
      return { content: [{ type: "text", text: "written" }] };
    });
    mcp.registerTool("hang", { inputSchema: inputOf() }, async (_, { mcpReq }) => {
      await mcpReq.notify({ method: "notifications/message", params: { level: "info", data: "begun" } });
      await once(mcpReq.signal, "abort");
      this.requests.push({ method: "aborted", at: performance.now() });
      return { content: [] };
    });
    return mcp;
  }

  #note(uri) {
    const text = this.contents.get(uri);
    if (text === undefined) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  }

  async #handle(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
    const { id, method = request.method, params } = body ?? {};
    const { headers } = request;
    const entry = { at: performance.now(), id, method, uri: params?.uri, params, headers, closed: false };
    response.on("close", () => {
      entry.closed = true;
      this.requests.push({ method: "closed", of: entry, at: performance.now() });
    });
    this.requests.push(entry);
    if (this.respond?.(body, response)) return;
    await this.node(request, response, body);
  }
}
