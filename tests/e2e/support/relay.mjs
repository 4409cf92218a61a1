// A TCP relay: an address that is known before its target is, and a network that can be cut.
import { once } from "node:events";
import net from "node:net";

export async function startRelay(origin) {
  const pairs = new Set();
  const relay = { target: origin };
  const server = net.createServer((near) => {
    const { hostname, port } = new URL(relay.target);
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
  relay.origin = `http://127.0.0.1:${server.address().port}`;
  relay.cut = () => {
    for (const pair of pairs) for (const socket of pair) socket.resetAndDestroy();
  };
  relay.stop = () => {
    server.close();
    relay.cut();
  };
  return relay;
}
