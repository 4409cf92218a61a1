// A TCP relay that can be cut: what a network does to a client's connections.
import { once } from "node:events";
import net from "node:net";

export async function startCutter(target) {
  const { hostname, port } = new URL(target);
  const pairs = new Set();
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    const pair = [near, far];
    pairs.add(pair);
    near.pipe(far);
    far.pipe(near);
    for (const socket of pair) {
      socket.on("error", () => {});
      socket.on("close", () => {
        pairs.delete(pair);
        for (const one of pair) one.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  const url = new URL(target);
  url.port = String(server.address().port);
  return { url: url.href, cut, stop: () => (server.close(), cut()) };
}
