// Preloaded (NODE_OPTIONS=--import) into servers that would bind every interface, or a fixed port: they get
// loopback and the port of FRESHET_E2E_PORT (0: any free one), and say on stderr which one that was.
import net from "node:net";

const listen = net.Server.prototype.listen;
net.Server.prototype.listen = function (...args) {
  const callback = args.find((argument) => typeof argument === "function");
  this.once("listening", () => process.stderr.write(`bound to ${this.address().port}\n`));
  return listen.call(this, { host: "127.0.0.1", port: Number(process.env.FRESHET_E2E_PORT ?? 0) }, callback);
};
