import { createInterface } from "node:readline/promises";
import { RetinueError } from "../../schema/error.ts";
import type { Terminal } from "../terminal.ts";

const MAX_SECRET = 4_000;

/** The part of a terminal that questions need. */
type Desk = Pick<Terminal, "env" | "interactive" | "tell" | "prompt"> & { readonly stdin: Keys };
type Keys = NodeJS.ReadableStream & { isRaw?: boolean; setRawMode?(mode: boolean): unknown };

/** What a flag says, or the person's answer; without a person, an error that names the flag. */
export async function askFor(
  what: { value: string | undefined; flag: string; question: string; proposal?: string },
  terminal: Desk,
): Promise<string> {
  if (what.value !== undefined) return what.value;
  if (!terminal.interactive) throw missing(what.flag, what.proposal);
  const proposal = what.proposal === undefined ? "" : ` [${what.proposal}]`;
  terminal.prompt(`${what.question}${proposal}: `);
  const lines = createInterface({ input: terminal.stdin, terminal: false });
  const { promise, resolve } = Promise.withResolvers<string>();
  lines.once("line", resolve);
  lines.once("close", () => resolve(""));
  const answer = (await promise).trim() || what.proposal;
  lines.close();
  terminal.stdin.pause();
  if (answer) return answer;
  throw missing(what.flag, undefined);
}

/** How a command may be given a secret. */
export type SecretSource = {
  /** What a person is asked for. */
  question: string;
  /** It stands on stdin. */
  stdin: boolean | undefined;
  /** Name of the environment variable that holds it. */
  env: string | undefined;
  /** The flags, for who is not at a terminal. */
  flags: string;
};

/** A secret from stdin, from a variable, or from the person, without showing it. */
export async function secretFrom(source: SecretSource, terminal: Desk): Promise<string> {
  const { question, stdin, env, flags } = source;
  if (stdin && env !== undefined)
    throw new RetinueError("usage", "the secret is to come from two places", "give one of the flags");
  if (stdin) return checked((await linesOfStdin(terminal))[0] ?? "", "stdin");
  if (env !== undefined) return checked(terminal.env[env] ?? "", `the environment variable ${env}`);
  if (terminal.interactive) return checked(await askHidden(question, terminal), "the answer");
  throw missing(flags, undefined);
}

/** The lines of stdin, as far as secrets go. */
export async function linesOfStdin({ stdin }: Pick<Desk, "stdin">): Promise<string[]> {
  let text = "";
  for await (const chunk of stdin) {
    text += String(chunk);
    if (text.length > 4 * MAX_SECRET)
      throw new RetinueError("input", "what stands on stdin is no secret: it is too long");
  }
  return text.split(/\r?\n/);
}

/** Asks for something that is not to be seen, not even as dots. */
export async function askHidden(question: string, { stdin, prompt, tell }: Desk): Promise<string> {
  prompt(`${question} (not shown): `);
  const wasRaw = stdin.isRaw;
  stdin.setRawMode?.(true);
  stdin.resume();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let typed = "";
  const onData = (chunk: Buffer | string) => {
    for (const character of String(chunk)) {
      if (character === "\r" || character === "\n" || character === "\u0004") return resolve(typed);
      if (character === "\u0003") return reject(new RetinueError("usage", "stopped; nothing was saved"));
      if (character === "\u007f" || character === "\b") typed = [...typed].slice(0, -1).join("");
      else if (character >= " " && typed.length < MAX_SECRET) typed += character;
    }
  };
  const onEnd = () => resolve(typed);
  stdin.on("data", onData).once("end", onEnd);
  try {
    return await promise;
  } finally {
    stdin.off("data", onData).off("end", onEnd);
    stdin.setRawMode?.(wasRaw === true);
    stdin.pause();
    tell("");
  }
}

function checked(secret: string, from: string): string {
  if (secret.trim() === "") throw new RetinueError("input", `${from} holds no secret`);
  if (secret.length > MAX_SECRET) throw new RetinueError("input", `${from} holds no secret: it is too long`);
  return secret;
}

function missing(flags: string, proposal: string | undefined): RetinueError {
  const hint = proposal === undefined ? "" : `, such as ${flags.split(" ")[0]} ${proposal}`;
  return new RetinueError("usage", `there is nobody to ask, so ${flags} is needed`, `add ${flags}${hint}`);
}
