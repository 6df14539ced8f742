import type { Socket } from "node:net";
import { TransportError } from "../schema/transport.ts";
import type { ProxyServer } from "./proxy.ts";
import { MalformedResponse, ResponseParser } from "./response-parser.ts";
import { readTransportError } from "./transport-error.ts";

const net = process.getBuiltinModule("node:net");

/** Where a connection leads, and by which way. */
export type Destination = {
  /** Host and port, for messages. */
  host: string;
  secure: boolean;
  hostname: string;
  port: number;
  proxy: ProxyServer | null;
};

/** An open connection; who uses it puts in `take`, which must be done with the bytes when it returns. */
export type OpenSocket = { readonly socket: Socket; take(bytes: Buffer): void };

/** Told once what became of an attempt to connect. */
export type OnOpened = {
  onOpen(opened: OpenSocket): void;
  onFailed(error: TransportError): void;
};

/** The last TLS session of each destination, which spares the next connection half of its handshake. */
const sessions = new Map<string, Buffer>();
const KEPT_SESSIONS = 100;

/**
 * Opens a connection that requests can be written to: directly or through a proxy, with TLS where the destination wants
 * it. Returns how to give up; nothing is told after that.
 */
export function openSocket(destination: Destination, timeoutMs: number, told: OnOpened): () => void {
  const { host, proxy } = destination;
  let current: OpenSocket | null = null;
  let isOver = false;
  const timer = setTimeout(() => {
    fail(new TransportError("connect_timeout", host, `no connection to ${host} within ${timeoutMs} ms`));
  }, timeoutMs);
  const end = () => {
    isOver = true;
    clearTimeout(timer);
  };
  const fail = (error: TransportError) => {
    if (isOver) return;
    end();
    current?.socket.destroy();
    told.onFailed(error);
  };
  const watch = (opening: OpenSocket, event: "connect" | "secureConnect", next: () => void) => {
    current = opening;
    const { socket } = opening;
    socket.once(event, () => isOver || next());
    socket.on("error", (error) => fail(readTransportError(error, host)));
    socket.once("close", () => fail(new TransportError("reset", host, `${host} closed the connection`)));
  };
  const finish = (opened: OpenSocket) => {
    end();
    opened.socket.removeAllListeners("error");
    opened.socket.removeAllListeners("close");
    told.onOpen(opened);
  };
  const secure = (via?: Socket) => {
    via?.removeAllListeners("error");
    via?.removeAllListeners("close");
    const opening = startTls(destination, via);
    watch(opening, "secureConnect", () => finish(opening));
  };
  const tunnel = (opened: OpenSocket) => {
    if (proxy && destination.secure)
      askForTunnel(opened, destination, proxy, (refused) =>
        refused ? fail(refused) : secure(opened.socket),
      );
    else finish(opened);
  };

  if (!proxy && destination.secure) secure();
  else if (proxy?.secure) {
    const opening = startTls(proxy);
    watch(opening, "secureConnect", () => tunnel(opening));
  } else {
    const { hostname, port } = proxy ?? destination;
    const opening = startPlain(hostname, port);
    watch(opening, "connect", () => tunnel(opening));
  }
  return () => {
    if (isOver) return;
    end();
    current?.socket.destroy();
  };
}

/** What any plain connection reads goes through one buffer, because nobody keeps it. */
const READ_BYTES = 64 * 1024;
let readBuffer: Buffer | undefined;

function startPlain(host: string, port: number): OpenSocket {
  readBuffer ??= Buffer.allocUnsafeSlow(READ_BYTES);
  const buffer = readBuffer;
  const callback = (count: number) => {
    opened.take(buffer.subarray(0, count));
    return true;
  };
  const socket = net.connect({ host, port, noDelay: true, keepAlive: true, onread: { buffer, callback } });
  const opened: OpenSocket = { socket, take() {} };
  return opened;
}

function startTls({ hostname, port }: Pick<Destination, "hostname" | "port">, via?: Socket): OpenSocket {
  const tls = process.getBuiltinModule("node:tls");
  const name = `${hostname}:${port}`;
  const session = sessions.get(name);
  const socket = tls.connect({
    // Of a tunnel this is only what the certificate must be for: without it, Node takes the proxy's name.
    host: hostname,
    port,
    ...(via && { socket: via }),
    // An address is no name that a server could have a certificate for.
    servername: net.isIP(hostname) ? "" : hostname,
    ALPNProtocols: ["http/1.1"],
    ...(session && { session }),
  });
  const opened: OpenSocket = { socket, take() {} };
  socket.on("data", (bytes) => opened.take(bytes));
  socket.setNoDelay(true);
  socket.setKeepAlive(true);
  socket.on("session", (latest) => {
    if (sessions.size >= KEPT_SESSIONS) sessions.clear();
    sessions.set(name, latest);
  });
  return opened;
}

function askForTunnel(
  opened: OpenSocket,
  { host, hostname, port }: Destination,
  proxy: ProxyServer,
  answer: (refused: TransportError | null) => void,
): void {
  const refuse = (why: string) =>
    answer(new TransportError("refused", host, `the proxy ${proxy.hostname}:${proxy.port} ${why}`));
  const parser = new ResponseParser({
    onHead(status) {
      opened.take = () => {};
      if (status >= 200 && status < 300) answer(null);
      else refuse(`does not let through to ${host} (${status})`);
    },
    onBody() {},
    onEnd() {},
  });
  parser.expect("CONNECT");
  opened.take = (bytes) => {
    try {
      parser.push(bytes);
    } catch (thrown) {
      if (!(thrown instanceof MalformedResponse)) throw thrown;
      refuse("did not answer in HTTP");
    }
  };
  const named = `${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
  const login = proxy.authorization ? `proxy-authorization: ${proxy.authorization}\r\n` : "";
  opened.socket.write(`CONNECT ${named} HTTP/1.1\r\nhost: ${named}\r\n${login}\r\n`, "latin1");
}
