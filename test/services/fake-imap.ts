import { once } from "node:events";
import { createServer, type Socket } from "node:net";

/** An IMAP server that says what a script wants. */
export type FakeImap = { readonly port: number; heard(): string; stop(): Promise<void> };

/**
 * Starts one; `answer` gives what is said before the tagged OK, a whole line beginning with the tag, or null for silence.
 * What is appended is taken, as message 5 of a folder whose UIDVALIDITY is 1.
 */
export async function startFakeImap(
  answer: (line: string, tag: string) => string | null | undefined,
): Promise<FakeImap> {
  let all = "";
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.write("* OK ready\r\n");
    let rest = "";
    let literal: { tag: string; bytes: number } | undefined;
    socket.on("data", (chunk: Buffer) => {
      rest += chunk.toString("latin1");
      for (;;) {
        if (literal && rest.length < literal.bytes + 2) return;
        if (literal) {
          rest = rest.slice(literal.bytes + 2);
          socket.write(`${literal.tag} OK [APPENDUID 1 5] kept\r\n`);
          literal = undefined;
        }
        const end = rest.indexOf("\r\n");
        if (end < 0) return;
        const line = rest.slice(0, end);
        rest = rest.slice(end + 2);
        all += `${line}\n`;
        const [, tag = "", bytes] = /^(\S+) APPEND .*\{(\d+)\}$/.exec(line) ?? [];
        if (bytes !== undefined) literal = { tag, bytes: Number(bytes) };
        const said = literal ? "+ go on\r\n" : reply(line, answer);
        if (said !== null) socket.write(said);
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    heard: () => all,
    async stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

const USUAL: Readonly<Record<string, string>> = {
  CAPABILITY: "* CAPABILITY IMAP4rev1 UIDPLUS\r\n",
  LIST: '* LIST (\\HasNoChildren) "/" INBOX\r\n* LIST (\\HasNoChildren) "/" Sent\r\n',
  SELECT: "* 1 EXISTS\r\n* OK [UIDVALIDITY 1] ok\r\n* OK [UIDNEXT 9] ok\r\n",
};

function reply(
  line: string,
  answer: (line: string, tag: string) => string | null | undefined,
): string | null {
  const [, tag = "", command = ""] = /^(\S+) ([A-Z]+)/.exec(line) ?? [];
  const said = answer(line, tag);
  if (said === null) return null;
  if (said?.startsWith(`${tag} `)) return said;
  return `${said ?? USUAL[command] ?? ""}${tag} OK done\r\n`;
}
