// An upstream scripted at the level of bytes. The script is a function from a request (method, headers, parsed body)
// to what is written, verbatim, on that connection: bytes, or a list of pieces each written by itself.
import { once } from "node:events";
import net from "node:net";
import { Journal } from "./until.mjs";

const HEAD_END = "\r\n\r\n";

export async function startRawUpstream(script) {
  const requests = new Journal();
  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    serve(socket, requests, script);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${server.address().port}/mcp`, requests, sockets, stop };
}

async function serve(socket, requests, script) {
  let rest = Buffer.alloc(0);
  try {
    for await (const chunk of socket) {
      rest = Buffer.concat([rest, chunk]);
      for (let taken = take(rest); taken; taken = take(rest)) {
        rest = taken.rest;
        requests.push({ at: performance.now(), ...taken.request });
        await write(socket, await script(taken.request, socket));
      }
    }
  } catch {
    socket.destroy();
  }
}

async function write(socket, answer) {
  for (const piece of [answer ?? []].flat()) {
    // Flushed one by one, so that the pieces arrive torn where the script tears them.
    await new Promise((resolve) => socket.write(piece, resolve));
  }
}

function take(buffer) {
  const end = buffer.indexOf(HEAD_END);
  if (end < 0) return undefined;
  const [line, ...fields] = buffer.subarray(0, end).toString("latin1").split("\r\n");
  const headers = Object.fromEntries(fields.map((field) => splitField(field)));
  const start = end + HEAD_END.length;
  const length = Number(headers["content-length"] ?? 0);
  if (headers["transfer-encoding"]) throw new Error("chunked requests are not scripted");
  if (buffer.length < start + length) return undefined;
  const [method, target] = line.split(" ");
  const body = buffer.subarray(start, start + length).toString();
  const message = body ? JSON.parse(body) : undefined;
  return { request: { method, target, headers, body, message }, rest: buffer.subarray(start + length) };
}

function splitField(field) {
  const colon = field.indexOf(":");
  return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
}

/** A whole response with the right Content-Length. */
export function reply(status, body = "", headers = {}) {
  const fields = { "Content-Type": "application/json", ...headers, "Content-Length": Buffer.byteLength(body) };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status}\r\n${lines.join("")}\r\n${body}`;
}

/** The head of an event stream that ends with its connection. */
export const STREAM_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
