import { timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { REQUEST_PATIENCE } from "@retinue/core/net/request-patience";
import { RetinueError } from "@retinue/core/schema/error";

/** A server on the loopback address that one browser is sent back to. */
type Redirect = {
  readonly uri: string;
  /** The code of the answer. Anything else that comes ends the waiting with an error. */
  readonly code: Promise<string>;
  close(): void;
};

const PATH = "/callback";

/** Waits, on a free port that only this machine reaches, for the answer that carries this state. */
export async function waitForRedirect(
  state: string,
  signal: AbortSignal,
  patience = REQUEST_PATIENCE,
): Promise<Redirect> {
  const { promise: code, resolve, reject } = Promise.withResolvers<string>();
  code.catch(() => {});
  let port = 0;
  const server = createServer(patience, (request, response) => {
    const answer = readAnswer(request, port);
    if (!answer) return say(response, 404, "There is nothing here.");
    const told = readCode(answer, state);
    // Only once the person's page is written, as what comes next may end all connections.
    if (told instanceof RetinueError) {
      response.once("close", () => reject(told));
      say(response, 400, "The sign-in did not succeed. The terminal tells why; you can close this page.");
    } else {
      response.once("close", () => resolve(told));
      say(response, 200, "You are signed in. You can close this page.");
    }
  });
  server.on("error", reject);
  await new Promise<void>((listening, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", listening);
  });
  port = readPort(server.address());
  const onAbort = () =>
    reject(new RetinueError("auth", "nobody finished the sign-in", "run the command again"));
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const close = () => {
    signal.removeEventListener("abort", onAbort);
    server.close();
    // Browsers also open connections that they never use; those would keep the program from ending.
    server.closeAllConnections();
  };
  return { uri: `http://127.0.0.1:${port}${PATH}`, code, close };
}

/** The parameters of a request that is such an answer; browsers ask for other things too, such as icons. */
function readAnswer({ method, url = "", headers }: IncomingMessage, port: number): URLSearchParams | null {
  if (method !== "GET" || headers.host !== `127.0.0.1:${port}`) return null;
  const parsed = URL.parse(url, `http://127.0.0.1:${port}`);
  return parsed?.pathname === PATH ? parsed.searchParams : null;
}

function readCode(answer: URLSearchParams, state: string): string | RetinueError {
  const [given = "", ...more] = answer.getAll("state");
  if (more.length > 0 || !isSame(given, state))
    return new RetinueError(
      "auth",
      "the answer does not belong to this sign-in (its state is another), so it was refused",
      "run the command again, and use only the page that it opens",
    );
  const error = answer.get("error");
  if (error === "access_denied")
    return new RetinueError("auth", "the consent was denied", "run the command again to give it");
  if (error !== null)
    return new RetinueError(
      "auth",
      `the sign-in failed: ${/^[\w.-]{1,60}$/.test(error) ? error : "no reason"}`,
    );
  const code = answer.get("code");
  return code ? code : new RetinueError("auth", "the sign-in's answer holds no code");
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function say(response: ServerResponse, status: number, words: string): void {
  response.writeHead(status, {
    "content-type": "text/plain; charset=utf-8",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    connection: "close",
  });
  response.end(`${words}\n`);
}

function readPort(address: AddressInfo | string | null): number {
  return address !== null && typeof address === "object" ? address.port : 0;
}
