// A client at the level of HTTP requests, for what the SDK's client does not show: bytes, event ids, stream ends.
import http from "node:http";
import { Journal, within } from "./until.mjs";

const ANSWER_MS = 15_000;
const BASIC = { "Content-Type": "application/json", Accept: "application/json, text/event-stream" };
export const PROTOCOL = "2025-11-25";

/** Sends one request and resolves with the response's head and a stream of its body. */
export function send(url, { method = "POST", headers = {}, body, agent } = {}) {
  const answered = new Promise((resolve, reject) => {
    const request = http.request(url, { method, headers: { ...BASIC, ...headers }, agent: agent ?? new http.Agent() });
    request.on("response", (response) => resolve({ request, response }));
    request.on("error", reject);
    request.end(typeof body === "object" ? JSON.stringify(body) : body);
  });
  return within(answered, ANSWER_MS, `${method} ${url} to be answered`);
}

/** Sends one request and reads the whole answer: status, headers, raw headers and bytes. */
export async function exchange(url, options) {
  const { response } = await send(url, options);
  const chunks = [];
  const read = async () => {
    for await (const chunk of response) chunks.push(chunk);
  };
  await within(read(), ANSWER_MS, `the answer's end from ${url}`);
  const { statusCode: status, headers, rawHeaders } = response;
  return { status, headers, rawHeaders, bytes: Buffer.concat(chunks), text: Buffer.concat(chunks).toString() };
}

/** The JSON-RPC messages of an answer, whichever of the two forms it has. */
export function messagesOf({ headers, text }) {
  if (!headers["content-type"]?.startsWith("text/event-stream")) return text ? [JSON.parse(text)].flat() : [];
  return eventsOf(text).filter((event) => event.data).map((event) => JSON.parse(event.data));
}

function eventsOf(text) {
  return text.split(/\r?\n\r?\n/).map(eventOf).filter((event) => Object.keys(event).length > 0);
}

function eventOf(block) {
  const event = {};
  for (const line of block.split(/\r?\n/)) {
    const [, field, value] = line.match(/^([^:]*)(?:: ?(.*))?$/) ?? [];
    if (field === "") event.comment = value ?? "";
    else if (field === "data" && event.data !== undefined) event.data += `\n${value}`;
    else if (field) event[field] = value ?? "";
  }
  return event;
}

// Not all that is sent on a stream is a message.
function messageOf({ data }) {
  try {
    return data ? Object(JSON.parse(data)) : undefined;
  } catch {
    return undefined;
  }
}

/** An open event stream: its events are a journal, `ended` resolves when the other side closes it. */
export class EventStream {
  events = new Journal();
  #rest = "";

  constructor({ request, response }) {
    this.request = request;
    this.status = response.statusCode;
    this.headers = response.headers;
    response.setEncoding("utf8");
    response.on("data", (chunk) => this.#feed(chunk));
    response.on("error", () => {});
    this.ended = new Promise((resolve) => response.on("close", resolve));
  }

  #feed(chunk) {
    const blocks = (this.#rest + chunk).split(/\r?\n\r?\n/);
    this.#rest = blocks.pop();
    for (const block of blocks) {
      const event = eventOf(block);
      const message = messageOf(event);
      this.events.push({ ...event, message, at: performance.now() });
    }
  }

  updated(uri, options) {
    return this.events.find(isUpdated(uri), { what: `an update of ${uri}`, ...options });
  }

  updates(uri) {
    return this.events.entries.filter(isUpdated(uri));
  }

  get lastId() {
    return this.events.entries.findLast((event) => event.id)?.id;
  }

  close() {
    this.request.destroy();
  }
}

export const isUpdated = (uri) => ({ message }) =>
  message?.method === "notifications/resources/updated" && message.params.uri === uri;

/** One legacy session. `headers` go with every request (credentials, say). */
export class Session {
  #nextId = 1;

  constructor(url, { headers = {}, protocol = PROTOCOL } = {}) {
    this.url = url;
    this.protocol = protocol;
    this.headers = headers;
  }

  static async open(url, options) {
    const session = new Session(url, options);
    await session.initialize();
    return session;
  }

  async initialize(capabilities = {}) {
    const clientInfo = { name: "freshet-e2e", version: "1" };
    const params = { protocolVersion: this.protocol, capabilities, clientInfo };
    const answer = await this.exchange({ jsonrpc: "2.0", id: 0, method: "initialize", params });
    this.id = answer.headers["mcp-session-id"];
    this.initialized = messagesOf(answer).at(-1)?.result;
    await this.notify("notifications/initialized");
    return answer;
  }

  get head() {
    const known = this.id ? { "Mcp-Session-Id": this.id } : {};
    return { ...(this.initialized ? { "MCP-Protocol-Version": this.protocol } : {}), ...known, ...this.headers };
  }

  exchange(body) {
    return exchange(this.url, { headers: this.head, body });
  }

  notify(method, params) {
    return this.exchange({ jsonrpc: "2.0", method, params });
  }

  /** The JSON-RPC response to one request, result or error. */
  async request(method, params = {}) {
    const id = this.#nextId++;
    const answer = await this.exchange({ jsonrpc: "2.0", id, method, params });
    const response = messagesOf(answer).find((message) => message.id === id);
    return response ?? { status: answer.status, text: answer.text };
  }

  subscribe(uri) {
    return this.request("resources/subscribe", { uri });
  }

  unsubscribe(uri) {
    return this.request("resources/unsubscribe", { uri });
  }

  async read(uri) {
    const response = await this.request("resources/read", { uri });
    return response.result?.contents[0].text ?? response;
  }

  async stream(lastEventId) {
    const resume = lastEventId ? { "Last-Event-ID": lastEventId } : {};
    const headers = { ...this.head, Accept: "text/event-stream", ...resume };
    return new EventStream(await send(this.url, { method: "GET", headers }));
  }

  delete() {
    return exchange(this.url, { method: "DELETE", headers: this.head });
  }
}
