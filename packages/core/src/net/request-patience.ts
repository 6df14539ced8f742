import type { ServerOptions } from "node:http";

/** How long a server waits for a request to arrive whole. What it answers may take as long as it likes. */
export type RequestPatience = Required<
  Pick<ServerOptions, "headersTimeout" | "requestTimeout" | "connectionsCheckingInterval">
>;

/**
 * The patience of every server here, in milliseconds: connections that send nothing, half a header or half a body are
 * closed, so that they cannot fill the process. Clients are on this machine, or behind a tunnel, and requests are small.
 */
export const REQUEST_PATIENCE: RequestPatience = {
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  connectionsCheckingInterval: 2_000,
};
