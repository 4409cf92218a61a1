// The server that the official conformance suite expects of 2026-07-28, with the official SDK for it. What both eras
// expect of a server's contents is in conformance-server.mjs.
import { once } from "node:events";
import http from "node:http";
import { localhostHostValidation, toNodeHandler } from "@modelcontextprotocol/node";
import {
  createMcpHandler, createRequestStateCodec, fromJsonSchema, inputRequired, McpServer, ResourceTemplate,
} from "@modelcontextprotocol/server";
import { addPrompts, addResources, answer, contentTools, jsonSchema2020, text } from "./conformance-server.mjs";

const nothing = fromJsonSchema({ type: "object" });
const strings = (...names) => fromJsonSchema({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});

function addContentTools(mcp) {
  for (const [name, result] of Object.entries(contentTools)) {
    mcp.registerTool(name, { description: `Answers as ${name} should`, inputSchema: nothing }, () => result);
  }
  mcp.registerTool("test_error_handling", { description: "Fails on purpose", inputSchema: nothing }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  const raw = { description: "Has a raw schema", inputSchema: fromJsonSchema(jsonSchema2020) };
  mcp.registerTool("json_schema_2020_12_tool", raw, () => answer(text("called")));
  const region = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } }, required: ["region"] };
  mcp.registerTool("test_headers", { description: "Mirrors a parameter", inputSchema: fromJsonSchema(region) },
    (asked) => answer(text(asked.region)));
}

function addTalkingTools(mcp, handler) {
  const add = (name, call) => mcp.registerTool(name, { description: name, inputSchema: nothing }, (_, ctx) => call(ctx.mcpReq));
  add("test_tool_with_progress", async ({ notify, _meta }) => {
    const progressToken = _meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
    }
    return answer(text(String(progressToken)));
  });
  for (const name of ["test_tool_with_logging", "test_logging_tool"]) {
    add(name, async ({ log }) => {
      for (const data of ["started", "processing", "completed"]) await log("info", `Tool ${data}`);
      return answer(text("logged"));
    });
  }
  add("test_trigger_tool_change", () => {
    handler().notify.toolsChanged();
    return answer(text("changed"));
  });
  add("test_trigger_prompt_change", () => {
    handler().notify.promptsChanged();
    return answer(text("changed"));
  });
  add("test_missing_capability", ({ inputResponses }) =>
    inputResponses ? answer(text("able")) : inputRequired({ inputRequests: { sampled: sample("Hello?") } }));
}

const form = (message, ...names) => inputRequired.elicit({
  message,
  requestedSchema: {
    type: "object", properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])), required: names,
  },
});
const sample = (question) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: text(question) }], maxTokens: 100 });
const roots = () => inputRequired.listRoots();

// What each tool asks for in its rounds; the last answers. `state`: it keeps state between them.
const askingTools = {
  test_input_required_result_elicitation: [{ user_name: form("What is your name?", "name") }],
  test_streaming_elicitation: [{ user_name: form("What is your name?", "name") }],
  test_input_required_result_sampling: [{ capital_question: sample("What is the capital of France?") }],
  test_input_required_result_list_roots: [{ client_roots: roots() }],
  test_input_required_result_request_state: [{ confirm: form("Please confirm", "ok") }],
  test_input_required_result_tampered_state: [{ confirm: form("Please confirm", "ok") }],
  test_input_required_result_multiple_inputs: [
    { user_name: form("What is your name?", "name"), greeting: sample("Generate a greeting"), client_roots: roots() },
  ],
  test_input_required_result_multi_round: [{ step1: form("Your name?", "name") }, { step2: form("Your colour?", "color") }],
};
const stateful = /state|multi/;

function addAskingTools(mcp, codec) {
  for (const [name, rounds] of Object.entries(askingTools)) {
    mcp.registerTool(name, { description: "Asks first", inputSchema: nothing }, async (_, { mcpReq }) => {
      const round = mcpReq.requestState()?.round ?? 0;
      const given = mcpReq.inputResponses ?? {};
      const answered = (asked) => Object.keys(asked).every((key) => valid(given[key]));
      const done = stateful.test(name) ? (answered(rounds[round]) ? round + 1 : round) : Number(answered(rounds[0]));
      if (done === rounds.length) return answer(text(`state-ok ${JSON.stringify(given)}`));
      const requestState = stateful.test(name) ? await codec.mint({ round: done }) : undefined;
      return inputRequired({ inputRequests: rounds[done], ...(requestState ? { requestState } : {}) });
    });
  }
  mcp.registerTool("test_input_required_result_capabilities", { description: "Asks what it may", inputSchema: nothing },
    (_, { mcpReq }) => {
      const can = mcpReq.envelope?.["io.modelcontextprotocol/clientCapabilities"] ?? {};
      return inputRequired({ inputRequests: {
        ...(can.sampling ? { sampled: sample("Hello?") } : {}),
        ...(can.elicitation ? { asked: form("Hello?", "name") } : {}),
      } });
    });
}

const valid = (given) => Boolean(given && (given.action === undefined || typeof given.content === "object"));

function addAskingPrompt(mcp) {
  const user = (content) => ({ messages: [{ role: "user", content }] });
  const name = "test_input_required_result_prompt";
  mcp.registerPrompt(name, { title: name, description: name }, ({ mcpReq }) =>
    mcpReq.inputResponses?.user_context
      ? user(text("With context."))
      : inputRequired({ inputRequests: { user_context: form("What context should the prompt use?", "context") } }));
}

export async function startModernConformanceServer({ subscribe }) {
  const codec = createRequestStateCodec({ key: "a key of thirty-two bytes or more, for tests" });
  let handler;
  const create = () => {
    const listChanged = true;
    const capabilities = {
      resources: { listChanged, ...(subscribe ? { subscribe } : {}) },
      tools: { listChanged }, prompts: { listChanged }, logging: {}, completions: {},
    };
    const mcp = new McpServer({ name: "conformance-upstream", version: "2.0.0" },
      { capabilities, requestState: { verify: codec.verify } });
    addContentTools(mcp);
    addTalkingTools(mcp, () => handler);
    addAskingTools(mcp, codec);
    addResources(mcp, ResourceTemplate);
    addPrompts(mcp, strings);
    addAskingPrompt(mcp);
    mcp.server.setRequestHandler("completion/complete", () => ({ completion: { values: [], total: 0, hasMore: false } }));
    return mcp;
  };
  handler = createMcpHandler(create, { legacy: "reject" });
  const node = toNodeHandler(handler);
  const allowed = localhostHostValidation();
  const server = http.createServer((request, response) => {
    if (allowed(request, response)) node(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, stop };
}
