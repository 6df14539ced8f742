import { createInterface } from "node:readline/promises";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { Cli, Terminal } from "./terminal.ts";

const MAX_SECRET = 4_000;

/** The part of a terminal that questions need. */
type Questioner = Pick<Terminal, "env" | "interactive" | "tell" | "prompt"> & { readonly stdin: Keys };
type Keys = NodeJS.ReadableStream & { isRaw?: boolean; setRawMode?(mode: boolean): unknown };

/** The flag's value, or the person's answer; without a person, an error that names the flag. */
export async function askFor(
  what: { value: string | undefined; flag: string; question: string; proposal?: string },
  terminal: Questioner,
): Promise<string> {
  if (what.value !== undefined) return what.value;
  if (!terminal.interactive) throw missing(what.flag, what.proposal);
  const proposal = what.proposal === undefined ? "" : ` [${what.proposal}]`;
  const answer = (await askLine(`${what.question}${proposal}: `, terminal)) || what.proposal;
  if (answer) return answer;
  throw missing(what.flag, undefined);
}

/** How a command may be given a secret. */
type SecretSource = {
  /** What a person is asked for. */
  question: string;
  /** It comes from stdin. */
  stdin: boolean | undefined;
  /** Name of the environment variable that holds it. */
  env: string | undefined;
  /** The flags that give it without a terminal. */
  flags: string;
};

/** A secret from stdin, from a variable, or from the person, without showing it. */
export async function readSecret(source: SecretSource, terminal: Questioner): Promise<string> {
  const { question, stdin, env, flags } = source;
  if (stdin && env !== undefined)
    throw new RetinueError("usage", "two flags give the secret", "give it once: by flag or by stdin");
  if (stdin) return checkSecret((await readStdinLines(terminal))[0] ?? "", "stdin");
  if (env !== undefined) return checkSecret(terminal.env[env] ?? "", `the environment variable ${env}`);
  if (terminal.interactive) return checkSecret(await askHidden(question, terminal), "the answer");
  throw missing(flags, undefined);
}

/** The lines of stdin, if it is short enough for secrets. */
export async function readStdinLines(terminal: Pick<Questioner, "stdin">): Promise<string[]> {
  return (await readStdin("secret", 4 * MAX_SECRET, terminal)).split(/\r?\n/);
}

/** All of stdin, which must be text in UTF-8: bytes of another kind would become something that nobody wrote. */
export async function readStdin(
  what: string,
  mostBytes: number,
  { stdin }: Pick<Questioner, "stdin">,
): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > mostBytes)
        throw new RetinueError("input", `the ${what} on stdin is larger than ${mostBytes} bytes`);
      chunks.push(bytes);
    }
  } catch (thrown) {
    if (thrown instanceof RetinueError) throw thrown;
    throw new RetinueError(
      "input",
      `stdin cannot be read: ${messageOf(thrown)}`,
      `give the ${what} another way`,
    );
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
    if (!text.includes("\0")) return text;
  } catch {
    // Reported below, as for text with null characters.
  }
  throw new RetinueError(
    "input",
    `the ${what} on stdin is not text in UTF-8`,
    "convert it first, such as with: iconv -f latin1 -t utf-8",
  );
}

/** Asks for something that is not shown, not even as dots. */
export async function askHidden(question: string, { stdin, prompt, tell }: Questioner): Promise<string> {
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

function checkSecret(secret: string, from: string): string {
  if (secret.trim() === "") throw new RetinueError("input", `${from} holds no secret`);
  if (secret.length > MAX_SECRET) throw new RetinueError("input", `${from} holds no secret: it is too long`);
  return secret;
}

function missing(flags: string, proposal: string | undefined): RetinueError {
  const hint = proposal === undefined ? "" : `, such as ${flags.split(" ")[0]} ${proposal}`;
  return new RetinueError("usage", `there is nobody to ask, so ${flags} is needed`, `add ${flags}${hint}`);
}

/** Asks a person to confirm what a command is about to do; without a terminal only `--yes` confirms. */
export async function confirm(what: string, cli: Cli<{ yes?: boolean }>): Promise<boolean> {
  const { yes } = cli.options;
  if (yes) return true;
  if (!cli.interactive)
    throw new RetinueError("usage", `${what} needs your approval`, "add --yes, or look first with --dry-run");
  return isYes(await askLine(`${what}? [y/N] `, cli));
}

/** One line of what the person types; empty at the end of input. */
export async function askLine(
  question: string,
  terminal: Pick<Questioner, "prompt" | "stdin">,
): Promise<string> {
  terminal.prompt(question);
  const lines = createInterface({ input: terminal.stdin, terminal: false });
  const answer = await new Promise<string>((resolve) => {
    lines.once("line", resolve);
    lines.once("close", () => resolve(""));
  });
  lines.close();
  terminal.stdin.pause();
  return answer.trim();
}

/** Whether an answer is a yes. */
export function isYes(answer: string): boolean {
  return /^\s*y(?:es)?\s*$/i.test(answer);
}
