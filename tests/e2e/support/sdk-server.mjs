// The typical upstream: the official SDK's McpServer on Streamable HTTP, whose resources cannot be subscribed to
// (with `subscribe` they can: each session that did is told by `notify`, and by nothing else). In a test it runs in the test's own process, or, to be killed, as a child (see `startSdkServerProcess`).
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import { fileURLToPath } from "node:url";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { McpError, SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { Journal, within } from "./until.mjs";

/** A request for `method` on `uri`. Freshet's own requests bear string ids, the SDK client's bear numbers. */
export const isRead = (uri) => (entry) => entry.method === "resources/read" && entry.uri === uri;
export const isPoll = (uri) => (entry) => isRead(uri)(entry) && typeof entry.id === "string";

export class SdkServer {
  requests = new Journal();
  contents = new Map();
  open = new Set();
  #sessions = new Map();

  constructor({ stateful = true, json = false, subscribe = false, respond = null } = {}) {
    this.stateful = stateful;
    this.json = json;
    this.subscribe = subscribe;
    this.respond = respond;
    this.http = http.createServer((request, response) => this.#handle(request, response));
    this.http.on("connection", (socket) => {
      this.open.add(socket);
      socket.on("close", () => this.open.delete(socket));
    });
  }

  static async start({ port = 0, contents = {}, ...options } = {}) {
    const server = new SdkServer(options);
    for (const [uri, text] of Object.entries(contents)) server.set(uri, text);
    server.http.listen(port, "127.0.0.1");
    await once(server.http, "listening");
    server.port = server.http.address().port;
    server.url = `http://127.0.0.1:${server.port}/mcp`;
    return server;
  }

  set(uri, text) {
    this.contents.set(uri, text);
  }

  delete(uri) {
    this.contents.delete(uri);
  }

  /** Tells the sessions that subscribed to `uri` that it was updated; how many they are. */
  async notify(uri, updated = uri) {
    const told = [...this.#sessions.values()].filter(({ mcp }) => mcp.subscribed?.has(uri));
    await Promise.all(told.map(({ mcp }) => mcp.server.sendResourceUpdated({ uri: updated })));
    return told.length;
  }

  /** Lets the calls of the tool `hang` end. */
  release() {
    this.http.emit("release");
  }

  get sessions() {
    return this.#sessions.size;
  }

  async stop() {
    this.http.close();
    this.http.closeAllConnections();
    await Promise.all([...this.#sessions.values()].map((session) => session.mcp.close()));
  }

  #mcp() {
    const mcp = new McpServer({ name: "notes", version: "1.0.0" });
    const template = new ResourceTemplate("note://{+name}", {
      list: () => ({ resources: [...this.contents.keys()].map((uri) => ({ uri, name: uri })) }),
    });
    mcp.registerResource("note", template, { mimeType: "text/plain" }, (uri, { name }) => this.#note(`note://${name}`));
    if (this.subscribe) allowSubscribing(mcp);
    mcp.registerTool("write", { inputSchema: { uri: z.string(), text: z.string() } }, ({ uri, text }) => {
      this.set(uri, text);
      return { content: [{ type: "text", text: "written" }] };
    });
    mcp.registerTool("hang", { inputSchema: {} }, async (_, { signal }) => {
      await Promise.race([once(signal, "abort"), once(this.http, "release")]);
      if (signal.aborted) this.requests.push({ method: "aborted" });
      return { content: [{ type: "text", text: "released" }] };
    });
    mcp.registerTool("count", { inputSchema: { to: z.number() } }, async ({ to }, { sendNotification, _meta }) => {
      for (let progress = 1; progress <= to; ++progress) {
        const params = { progressToken: _meta.progressToken, progress, total: to };
        await sendNotification({ method: "notifications/progress", params });
      }
      return { content: [{ type: "text", text: String(to) }] };
    });
    mcp.registerPrompt("greet", { argsSchema: { name: z.string() } }, ({ name }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Hello, ${name}` } }],
    }));
    return mcp;
  }

  #note(uri) {
    const text = this.contents.get(uri);
    if (text === undefined) throw new McpError(-32002, "Resource not found", { uri });
    return { contents: [{ uri, mimeType: "text/plain", text }] };
  }

  async #handle(request, response) {
    let body;
    try {
      body = await bodyOf(request);
    } catch {
      return answerError(response, 400, { code: -32700, message: "Parse error" });
    }
    const session = request.headers["mcp-session-id"];
    for (const message of [body ?? {}].flat()) this.requests.push(entryOf(request, session, message));
    if (this.respond?.(request, response, body)) return;
    const transport = await this.#transport(session, body, response);
    if (transport) await transport.handleRequest(request, response, body);
  }

  async #transport(session, body, response) {
    if (!this.stateful) return this.#connect(undefined, body, response);
    if (session) return this.#sessions.get(session)?.transport ?? answerError(response, 404, { code: -32001, message: "Session not found" });
    return this.#connect(() => randomUUID(), body, response);
  }

  async #connect(sessionIdGenerator, body, response) {
    const mcp = this.#mcp();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator,
      enableJsonResponse: this.json,
      onsessioninitialized: (id) => this.#sessions.set(id, { mcp, transport }),
      onsessionclosed: (id) => this.#sessions.delete(id),
    });
    await mcp.connect(transport);
    if (!sessionIdGenerator) response.on("close", () => mcp.close());
    return transport;
  }
}

function allowSubscribing(mcp) {
  mcp.subscribed = new Set();
  mcp.server.registerCapabilities({ resources: { subscribe: true } });
  mcp.server.setRequestHandler(SubscribeRequestSchema, ({ params }) => (mcp.subscribed.add(params.uri), {}));
  mcp.server.setRequestHandler(UnsubscribeRequestSchema, ({ params }) => (mcp.subscribed.delete(params.uri), {}));
}

function answerError(response, status, error) {
  response.writeHead(status, { "Content-Type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", error, id: null }));
  return undefined;
}

async function bodyOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return chunks.length === 0 ? undefined : JSON.parse(Buffer.concat(chunks).toString());
}

function entryOf(request, session, message) {
  const { method: http, headers } = request;
  const { id, method = http, params } = message;
  return { at: performance.now(), http, method, id, uri: params?.uri, params, session, headers };
}

/** The same server as a process of its own, steered and observed over IPC, so that it can be killed. */
export class SdkServerProcess {
  requests = new Journal();
  contents = {};

  constructor(options) {
    this.options = options;
    this.contents = { ...options.contents };
  }

  async start() {
    const script = fileURLToPath(import.meta.url);
    this.child = fork(script, [], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const ready = new Promise((resolve, reject) => {
      this.child.on("message", (message) => {
        if (message.port) resolve(message.port);
        else this.requests.push(message.request);
      });
      this.child.once("exit", () => reject(new Error("the SDK server ended while starting")));
    });
    this.child.send({ start: { ...this.options, contents: this.contents, port: this.port ?? 0 } });
    this.port = await within(ready, 20_000, "the SDK server to listen");
    this.url = `http://127.0.0.1:${this.port}/mcp`;
  }

  set(uri, text) {
    this.contents[uri] = text;
    if (this.child.connected) this.child.send({ set: [uri, text] });
  }

  notify(uri) {
    this.child.send({ notify: uri });
  }

  async kill() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await ended;
  }
}

export async function startSdkServerProcess(options = {}) {
  const server = new SdkServerProcess(options);
  await server.start();
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  let server;
  process.on("disconnect", () => process.exit(0));
  process.on("message", async (message) => {
    if (message.set) server.set(...message.set);
    if (message.notify) await server.notify(message.notify);
    if (!message.start) return;
    server = await SdkServer.start(message.start);
    const { push } = server.requests;
    server.requests.push = function (entry) {
      push.call(this, entry);
      process.send({ request: { ...entry, headers: undefined } });
    };
    process.send({ port: server.port });
  });
}
