import { createServer, type Server } from "node:http";
import { REQUEST_PATIENCE, type RequestPatience } from "@retinue/core/net/request-patience";
import { RetinueError } from "@retinue/core/schema/error";
import { findOwn } from "@retinue/core/schema/find-own";

/** Where `retinue serve` listens unless another port is named; if it is taken, at the next one that is free. */
export const DEFAULT_PORT = 7477;
const PORTS_TO_TRY = 20;

/** Addresses that only this machine reaches, by the names a person gives them. */
const LOOPBACK: Readonly<Record<string, { address: string; shown: string }>> = {
  "127.0.0.1": { address: "127.0.0.1", shown: "127.0.0.1" },
  localhost: { address: "127.0.0.1", shown: "localhost" },
  "::1": { address: "::1", shown: "[::1]" },
  "[::1]": { address: "::1", shown: "[::1]" },
};

/** A socket that listens; nothing answers on it yet. */
export type Listening = {
  readonly server: Server;
  readonly port: number;
  /** Such as `http://127.0.0.1:7477`. */
  readonly origin: string;
};

/** Where to listen. */
export type ListenOptions = {
  readonly host?: string | undefined;
  /** This one and no other; without it the default or the next that is free. */
  readonly port?: number | undefined;
  readonly patience?: RequestPatience;
};

/** Listens on this machine only. */
export async function listen({
  host = "127.0.0.1",
  port,
  patience = REQUEST_PATIENCE,
}: ListenOptions): Promise<Listening> {
  const place = findOwn(LOOPBACK, host.toLowerCase());
  if (!place) throw foreign(host);
  const ports =
    port === undefined ? Array.from({ length: PORTS_TO_TRY }, (_, index) => DEFAULT_PORT + index) : [port];
  for (const each of ports) {
    const server = createServer(patience);
    const bound = await bind(server, place.address, each);
    if (bound !== null) return { server, port: bound, origin: `http://${place.shown}:${bound}` };
  }
  const taken = port === undefined ? `the ports ${ports[0]} to ${ports.at(-1)} are` : `port ${port} is`;
  throw new RetinueError("input", `${taken} taken by other programs`, "name a free one with --port");
}

/** The port it listens on; null if another program has it. */
function bind(server: Server, host: string, port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(null);
      else reject(unusable(host, port, error));
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.removeAllListeners("error");
      const address = server.address();
      resolve(typeof address === "object" && address ? address.port : port);
    });
  });
}

function foreign(host: string): RetinueError {
  return new RetinueError(
    "input",
    `'${host}' is not an address of this machine alone, and the server listens on no other`,
    `to reach it from elsewhere, start it here and run there: ssh -L ${DEFAULT_PORT}:127.0.0.1:${DEFAULT_PORT} THIS_MACHINE`,
  );
}

function unusable(host: string, port: number, error: NodeJS.ErrnoException): RetinueError {
  const why = error.code === "EACCES" ? "this user may not" : error.message;
  return new RetinueError(
    "input",
    `the server cannot listen on ${host} port ${port}: ${why}`,
    "name another one with --port",
  );
}
