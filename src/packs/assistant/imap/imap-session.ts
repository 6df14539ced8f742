import type { ImapFlow } from "imapflow";
import { ToolFault } from "../errors/tool-fault.ts";
import { imapFault } from "./imap-fault.ts";
import { type ImapOptions, protectionOf, tlsOf } from "./imap-options.ts";

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

/** A connection that opens at its first use, closes when it is idle, and opens anew after it was lost. */
export function createImapSession(options: ImapOptions): ImapSession {
  let client: ImapFlow | undefined;
  let turn: Promise<unknown> = Promise.resolve();
  let idle: NodeJS.Timeout | undefined;

  async function connected(signal: AbortSignal): Promise<ImapFlow> {
    clearTimeout(idle);
    if (client?.usable) return client;
    client?.close();
    const fresh = await newClient(options);
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
      const fault = imapFault(error);
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

async function newClient(options: ImapOptions): Promise<ImapFlow> {
  const { ImapFlow } = await import("imapflow");
  const { secure, upgrade } = protectionOf(options.imap, options.tls);
  const client = new ImapFlow({
    host: options.imap.host,
    port: options.imap.port,
    secure,
    ...(!secure && { doSTARTTLS: upgrade === "required" }),
    auth: { user: options.user, pass: options.password },
    tls: tlsOf(options),
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
