/** Where the program reads from and writes to. Nothing here ever writes an escape code. */
export type Terminal = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdin: NodeJS.ReadStream;
  /** A person sits at both ends: there is someone to ask. */
  readonly interactive: boolean;
  /** Results, one line or several. */
  print(text: string): void;
  /** Progress, warnings and questions. */
  tell(text: string): void;
  /** A question, whose answer stands on the same line. */
  prompt(text: string): void;
};

/** The terminal of a process. A reader that goes away is no error: what is written after it is dropped. */
export function createTerminal(
  host: Pick<NodeJS.Process, "stdin" | "stdout" | "stderr" | "env" | "cwd">,
): Terminal {
  const { stdin, stdout, stderr, env } = host;
  for (const stream of [stdout, stderr]) stream.on("error", ignoreClosedPipe);
  const writer = (stream: NodeJS.WriteStream) => (text: string) => {
    if (stream.writable) stream.write(`${text}\n`);
  };
  return {
    env,
    cwd: host.cwd(),
    stdin,
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    print: writer(stdout),
    tell: writer(stderr),
    prompt: (text) => void stderr.write(text),
  };
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}
