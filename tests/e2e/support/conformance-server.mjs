// The server that the official conformance suite expects: its scenarios call tools, resources and prompts of fixed
// names (their list is in the suite's scenario descriptions). Stateful, resumable, with the SDK's Host check.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CallToolResultSchema, CompleteRequestSchema, CreateMessageResultSchema, ElicitResultSchema, ListToolsRequestSchema,
  SetLevelRequestSchema, SubscribeRequestSchema, UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const RETRY_MS = 500;

export const text = (value) => ({ type: "text", text: value });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const audio = { type: "audio", data: WAV, mimeType: "audio/wav" };
const embedded = (uri) => ({ type: "resource", resource: { uri, mimeType: "text/plain", text: "An embedded resource." } });
export const answer = (...content) => ({ content });

export const contentTools = {
  test_simple_text: answer(text("This is a simple text response for testing.")),
  test_image_content: answer(image),
  test_audio_content: answer(audio),
  test_embedded_resource: answer(embedded("test://embedded-resource")),
  test_multiple_content_types: answer(text("Several types of content:"), image, embedded("test://mixed-content-resource")),
};

function addContentTools(mcp) {
  for (const [name, result] of Object.entries(contentTools)) {
    mcp.registerTool(name, { description: `Answers as ${name} should` }, () => CallToolResultSchema.parse(result));
  }
  mcp.registerTool("test_error_handling", { description: "Fails on purpose" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
}

function addTalkingTools(mcp) {
  mcp.registerTool("test_tool_with_logging", { description: "Logs thrice", inputSchema: {} }, async (_, extra) => {
    for (const data of ["started", "processing", "completed"]) {
      await extra.sendNotification({ method: "notifications/message", params: { level: "info", data: `Tool ${data}` } });
    }
    return answer(text("logged"));
  });
  mcp.registerTool("test_tool_with_progress", { description: "Reports progress", inputSchema: {} }, async (_, extra) => {
    const progressToken = extra._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      const params = { progressToken, progress, total: 100, message: `step ${progress} of 100` };
      await extra.sendNotification({ method: "notifications/progress", params });
    }
    return answer(text(String(progressToken)));
  });
  mcp.registerTool("test_reconnection", { description: "Closes its stream mid-call", inputSchema: {} }, (_, extra) => {
    extra.closeSSEStream?.();
    return answer(text("Reconnection test completed"));
  });
}

function addAskingTools(mcp) {
  const sampling = { description: "Asks the client to sample", inputSchema: { prompt: z.string() } };
  mcp.registerTool("test_sampling", sampling, async ({ prompt }, { sendRequest }) => {
    const params = { messages: [{ role: "user", content: text(prompt) }], maxTokens: 100 };
    const { content } = await sendRequest({ method: "sampling/createMessage", params }, CreateMessageResultSchema);
    return answer(text(`LLM response: ${content.text}`));
  });
  const elicit = async ({ sendRequest }, message, properties, required = []) => {
    const params = { message, requestedSchema: { type: "object", properties, required } };
    const { action, content } = await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
    return answer(text(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`));
  };
  const asking = { description: "Asks the user", inputSchema: { message: z.string() } };
  mcp.registerTool("test_elicitation", asking, ({ message }, extra) =>
    elicit(extra, message, { response: { type: "string", description: "The answer" } }, ["response"]));
  for (const [name, properties] of Object.entries(forms)) {
    mcp.registerTool(name, { description: "Asks with a form", inputSchema: {} }, (_, extra) =>
      elicit(extra, "Please fill in the form", properties));
  }
}

const choices = (prefix) => [1, 2, 3].map((n) => ({ const: `${prefix}${n}`, title: `Choice ${n}` }));
const names = (prefix) => choices(prefix).map((choice) => choice.const);
const forms = {
  test_elicitation_sep1034_defaults: {
    name: { type: "string", default: "John Doe" },
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
    status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
    verified: { type: "boolean", default: true },
  },
  test_elicitation_sep1330_enums: {
    untitledSingle: { type: "string", enum: names("option") },
    titledSingle: { type: "string", oneOf: choices("value") },
    legacyEnum: { type: "string", enum: names("opt"), enumNames: ["One", "Two", "Three"] },
    untitledMulti: { type: "array", items: { type: "string", enum: names("option") } },
    titledMulti: { type: "array", items: { anyOf: choices("value") } },
  },
};

// Every keyword here must survive tools/list.
export const jsonSchema2020 = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};

const RAW_SCHEMA_TOOL = "json_schema_2020_12_tool";

// McpServer makes its schemas from zod, which knows none of these keywords; so its list is corrected on the way out.
function addJsonSchemaTool(mcp) {
  const withRawSchema = ({ tools, ...rest }) => ({
    ...rest,
    tools: tools.map((tool) => (tool.name === RAW_SCHEMA_TOOL ? { ...tool, inputSchema: jsonSchema2020 } : tool)),
  });
  const set = mcp.server.setRequestHandler.bind(mcp.server);
  mcp.server.setRequestHandler = (schema, handler) =>
    set(schema, schema === ListToolsRequestSchema ? async (...of) => withRawSchema(await handler(...of)) : handler);
  mcp.registerTool(RAW_SCHEMA_TOOL, { description: "Has a raw schema", inputSchema: {} }, () => answer(text("called")));
}

// For the McpServer of either era, with its own class for templates.
export function addResources(mcp, ResourceTemplate) {
  const add = (name, uri, mimeType, content) =>
    mcp.registerResource(name, uri, { title: name, description: name, mimeType }, (actual, variables) => ({
      contents: [{ uri: actual.href, mimeType, ...content(variables) }],
    }));
  add("static-text", "test://static-text", "text/plain", () => ({ text: "This is the content of the static text resource." }));
  add("static-binary", "test://static-binary", "image/png", () => ({ blob: PNG }));
  add("watched-resource", "test://watched-resource", "text/plain", () => ({ text: "Watched resource content" }));
  const template = new ResourceTemplate("test://template/{id}/data", { list: undefined });
  add("template", template, "application/json", ({ id }) => ({
    text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  }));
}

// `strings`: the schema of an object that has these strings, as that McpServer takes it.
export function addPrompts(mcp, strings) {
  const user = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });
  const add = (name, argsSchema, prompt) => mcp.registerPrompt(name, { title: name, description: name, argsSchema }, prompt);
  add("test_simple_prompt", undefined, () => user(text("This is a simple prompt for testing.")));
  add("test_prompt_with_arguments", strings("arg1", "arg2"), ({ arg1, arg2 }) =>
    user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)));
  add("test_prompt_with_embedded_resource", strings("resourceUri"), ({ resourceUri }) =>
    user(embedded(resourceUri), text("Please process the embedded resource above.")));
  add("test_prompt_with_image", undefined, () => user(image, text("Please analyze the image above.")));
}

function createMcp(subscribe) {
  const resources = { listChanged: true, ...(subscribe ? { subscribe } : {}) };
  const capabilities = { resources, logging: {}, completions: {} };
  const mcp = new McpServer({ name: "conformance-upstream", version: "1.0.0" }, { capabilities });
  for (const add of [addJsonSchemaTool, addContentTools, addTalkingTools, addAskingTools]) add(mcp);
  addResources(mcp, ResourceTemplate);
  addPrompts(mcp, (...names) => Object.fromEntries(names.map((name) => [name, z.string()])));
  const quiet = [SetLevelRequestSchema, ...(subscribe ? [SubscribeRequestSchema, UnsubscribeRequestSchema] : [])];
  for (const schema of quiet) mcp.server.setRequestHandler(schema, () => ({}));
  mcp.server.setRequestHandler(CompleteRequestSchema, () => ({ completion: { values: [], total: 0, hasMore: false } }));
  return mcp;
}

/** Replays, of the stream that an event id belongs to, what came after it. */
class EventStore {
  #events = [];

  async storeEvent(stream, message) {
    this.#events.push({ id: `${stream}/${this.#events.length}`, stream, message });
    return this.#events.at(-1).id;
  }

  async getStreamIdForEventId(id) {
    return this.#events.find((event) => event.id === id)?.stream;
  }

  async replayEventsAfter(lastId, { send }) {
    const last = this.#events.findIndex(({ id }) => id === lastId);
    const { stream } = this.#events[last];
    for (const { id, message } of this.#events.slice(last + 1).filter((event) => event.stream === stream)) {
      if (Object.keys(message).length > 0) await send(id, message);
    }
    return stream;
  }
}

async function open(sessions, subscribe) {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    eventStore: new EventStore(),
    retryInterval: RETRY_MS,
    onsessioninitialized: (id) => sessions.set(id, transport),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await createMcp(subscribe).connect(transport);
  return transport;
}

export async function startConformanceServer({ subscribe }) {
  const sessions = new Map();
  const app = createMcpExpressApp();
  app.all("/mcp", async (request, response) => {
    const id = request.headers["mcp-session-id"];
    const transport = id ? sessions.get(id) : await open(sessions, subscribe);
    if (transport) return transport.handleRequest(request, response, request.body);
    return response.status(404).json({ jsonrpc: "2.0", id: null, error: { code: -32001, message: "Session not found" } });
  });
  const http = app.listen(0, "127.0.0.1");
  await once(http, "listening");
  const stop = () => {
    http.close();
    http.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${http.address().port}/mcp`, stop };
}
