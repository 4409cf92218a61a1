// The official SDK's client, unmodified, with what it was told kept in a journal.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceUpdatedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { Journal } from "./until.mjs";

// The SDK's own delays are a second and more; a test need not wait that long to see it come back.
const reconnectionOptions = {
  initialReconnectionDelay: 50,
  maxReconnectionDelay: 200,
  reconnectionDelayGrowFactor: 1.2,
  maxRetries: 200,
};

export async function connectClient(url, { capabilities = {}, transport: transportOptions, prepare } = {}) {
  const transport = new StreamableHTTPClientTransport(new URL(url), { reconnectionOptions, ...transportOptions });
  const client = new Client({ name: "freshet-e2e", version: "1" }, { capabilities });
  const told = new Journal();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    told.push({ uri: params.uri, params, at: performance.now() });
  });
  prepare?.(client);
  await client.connect(transport);
  return {
    client,
    transport,
    told,
    updated: (uri, options) =>
      told.find((entry) => entry.uri === uri, { what: `an update of ${uri}`, ...options }),
    updates: (uri) => told.count((entry) => entry.uri === uri),
    text: async (uri) => (await client.readResource({ uri })).contents[0].text,
    close: () => client.close(),
  };
}
