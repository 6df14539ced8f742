// One connection to an IMAP server: opened when needed, used by one caller at a time, every failure a fault.

import { getCACertificates } from "node:tls";
import type { ImapFlow } from "imapflow";
import type { ImapAccount, MailServer } from "../accounts/accounts.ts";
import {
  isCertificateCode,
  isLoopback,
  numberIn,
  recordIn,
  textIn,
} from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";

const IDLE_MS = 60_000;
const ANSWER_MS = 60_000;
const CONNECT_MS = 20_000;
const GOODBYE_MS = 2_000;

/** One connection to a mailbox, used by one caller at a time. */
export type ImapSession = {
  /** Opens the connection if there is none. Raises `ToolFault` only; an aborted call ends the connection. */
  run<Value>(signal: AbortSignal, work: (client: ImapFlow) => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
};

const NETWORK =
  /^(E(CONN|TIMEDOUT|TIMEOUT|PIPE|HOST|NET|AI_AGAIN|NOTFOUND|DNS|SOCKET|CONNECTION)|NoConnection|EConnectionClosed|StateLogout|Closed|CONNECT_|GREETING_|UPGRADE_TIMEOUT|LockTimeout|Unavailable)/;

/** A mailbox that is read by IMAP and sends by SMTP. */
export type ImapOptions = Pick<ImapAccount, "address" | "name" | "user" | "imap" | "smtp"> & {
  readonly password: string;
  /** A certificate authority to trust besides the usual ones, as PEM. */
  readonly tls?: { readonly ca?: string };
  /** Milliseconds since 1970. */
  now?(): number;
};

/** How a connection is protected. A password crosses a network only under TLS; a server on this machine may go without. */
type Protection = { readonly secure: boolean; readonly upgrade: "required" | "none" };

/** A connection that opens at its first use, closes when it is idle, and opens again after it was lost. */
export function createImapSession(options: ImapOptions): ImapSession {
  let client: ImapFlow | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  async function connected(signal: AbortSignal): Promise<ImapFlow> {
    clearTimeout(idle);
    if (client?.usable) return client;
    client?.close();
    const fresh = await createClient(options);
    client = fresh;
    const stop = () => fresh.close();
    signal.addEventListener("abort", stop, { once: true });
    try {
      await fresh.connect();
    } finally {
      signal.removeEventListener("abort", stop);
    }
    return fresh;
  }

  async function once<Value>(signal: AbortSignal, work: (client: ImapFlow) => Promise<Value>) {
    if (signal.aborted) throw new ToolFault("network", "the call was stopped");
    let current: ImapFlow | undefined;
    const stop = () => current?.close();
    try {
      current = await connected(signal);
      signal.addEventListener("abort", stop, { once: true });
      return await work(current);
    } catch (error) {
      const fault = toImapFault(error);
      // A connection in an unknown state is not used again.
      if (fault.type === "network" || !client?.usable) drop();
      throw fault;
    } finally {
      signal.removeEventListener("abort", stop);
      idle = setTimeout(drop, IDLE_MS).unref();
    }
  }

  function drop(): void {
    client?.close();
    client = undefined;
  }

  return {
    run(signal, work) {
      const mine = turn.then(() => once(signal, work));
      turn = mine.catch(() => undefined);
      return mine;
    },
    async close() {
      await turn;
      clearTimeout(idle);
      const last = client;
      client = undefined;
      // A server that does not answer would keep the program from ending.
      const impatience = setTimeout(() => last?.close(), GOODBYE_MS);
      await last?.logout().catch(() => last.close());
      clearTimeout(impatience);
    },
  };
}

async function createClient(options: ImapOptions): Promise<ImapFlow> {
  const { ImapFlow } = await import("imapflow");
  const { secure, upgrade } = chooseProtection(options.imap, options.tls);
  const client = new ImapFlow({
    host: options.imap.host,
    port: options.imap.port,
    secure,
    ...(!secure && { doSTARTTLS: upgrade === "required" }),
    auth: { user: options.user, pass: options.password },
    tls: buildTls(options),
    clientInfo: { name: "Retinue" },
    logger: false,
    disableAutoIdle: true,
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: ANSWER_MS,
  });
  // The command that was under way fails with the same error; without a listener it would end the program.
  client.on("error", () => undefined);
  return client;
}

/** Any error of the IMAP client as a fault of the service. */
export function toImapFault(error: unknown): ToolFault {
  if (error instanceof ToolFault) return error;
  const { code, responseText, serverResponseCode, authenticationFailed, throttleReset } = recordIn(error);
  const words = textIn(responseText) ?? (error instanceof Error ? error.message : "");
  const said = `the mail server said: ${words.slice(0, 300)}`;
  const answer = String(serverResponseCode ?? "");
  const name = String(code ?? "");
  const cause = { cause: error };
  if (answer === "UNAVAILABLE" || answer === "INUSE") return new ToolFault("network", said, cause);
  if (authenticationFailed === true || answer === "AUTHENTICATIONFAILED" || answer === "EXPIRED")
    return new ToolFault("auth", `the mail server refused the password; ${said}`, cause);
  if (name === "ETHROTTLE" || answer === "LIMIT")
    return new ToolFault("rate_limit", said, { ...cause, retryAfterMs: numberIn(throttleReset) });
  if (answer === "NOPERM") return new ToolFault("permission", said, cause);
  if (isCertificateCode(name))
    return new ToolFault("tool_error", `the mail server's certificate is not trusted: ${words}`, cause);
  if (NETWORK.test(name))
    return new ToolFault("network", `the connection to the mail server failed: ${words}`, cause);
  return new ToolFault("tool_error", said, cause);
}

/** What protects the connection to a server: TLS at once, an upgrade that must succeed, or nothing on this machine. */
export function chooseProtection(server: MailServer, tls: ImapOptions["tls"]): Protection {
  if (server.secure) return { secure: true, upgrade: "none" };
  const isOpen = isLoopback(server.host) && tls?.ca === undefined;
  return { secure: false, upgrade: isOpen ? "none" : "required" };
}

/** TLS settings of both protocols. Naming an authority takes the usual ones away, so they are named as well. */
export function buildTls(options: ImapOptions): { ca?: string[] } {
  return options.tls?.ca === undefined ? {} : { ca: [...getCACertificates("default"), options.tls.ca] };
}
