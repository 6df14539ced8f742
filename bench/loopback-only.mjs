// Loaded before a measured process (`--import`): it ends the process when anything connects to, or looks up, a host other
// than this machine's loopback, and says which.
import dgram from "node:dgram";
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";

const LOOPBACK = /^(localhost|127(\.\d+){3}|::1)$/;

function refuse(what, host) {
  process.stderr.write(`${what} ${host} is not allowed: the benchmark stays on loopback\n`);
  process.exit(86);
}

const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  // `net.connect` hands over its arguments as one normalized array.
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const { host = "localhost", path } =
    typeof first === "object" ? first : { host: typeof second === "string" ? second : undefined };
  if (path === undefined && !LOOPBACK.test(host)) refuse("connecting to", host);
  return connect.apply(this, args);
};

for (const owner of [dns, dns.promises])
  for (const name of ["lookup", "resolve", "resolve4", "resolve6"]) {
    const look = owner[name];
    owner[name] = (host, ...rest) =>
      LOOPBACK.test(host) ? look.call(owner, host, ...rest) : refuse("looking up", host);
  }

dgram.Socket.prototype.send = () => refuse("sending a datagram to", "any host");

// So that what is imported by name is guarded as well.
syncBuiltinESMExports();
