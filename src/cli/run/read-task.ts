import { type AgentRegistry, requireAgent } from "../../agents/registry.ts";
import { messageOf, RetinueError } from "../../schema/error.ts";
import type { Terminal } from "../terminal.ts";

const MAX_TASK_BYTES = 10 * 1024 * 1024;

/** The task: the argument, or else what comes by stdin. */
export async function readTask(argument: string | undefined, terminal: Terminal): Promise<string> {
  if (argument === undefined && terminal.stdin.isTTY) throw noTask("usage");
  const task = argument ?? (await readAll(terminal.stdin));
  if (task.trim() === "") throw noTask(argument === undefined ? "usage" : "input");
  return task;
}

/** The agent that gets the task: the named one, `main`, or the only one. */
export function pickAgent(registry: AgentRegistry, name: string | undefined): string {
  const wanted = name ?? "main";
  if (name !== undefined || registry.get(wanted) || registry.getBroken(wanted)) {
    requireAgent(registry, wanted);
    return wanted;
  }
  const [only, ...others] = registry.list();
  if (!only) {
    throw new RetinueError(
      "config",
      "there are no agents",
      "put one into .retinue/agents, or see why a file was not used with: retinue agents check",
    );
  }
  if (others.length === 0) return only.name;
  const names = [only, ...others].map((agent) => agent.name).join(", ");
  throw new RetinueError(
    "input",
    `no agent is named 'main', so say which one to run: ${names}`,
    `add --agent ${only.name}`,
  );
}

function noTask(code: "usage" | "input"): RetinueError {
  return new RetinueError(code, "there is no task", 'give it as an argument, retinue run "…", or by stdin');
}

async function readAll(stdin: NodeJS.ReadStream): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stdin) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > MAX_TASK_BYTES)
        throw new RetinueError("input", `the task on stdin is larger than ${MAX_TASK_BYTES} bytes`);
      chunks.push(bytes);
    }
  } catch (thrown) {
    if (thrown instanceof RetinueError) throw thrown;
    throw new RetinueError(
      "input",
      `stdin cannot be read: ${messageOf(thrown)}`,
      'give the task as an argument: retinue run "…"',
    );
  }
  return decode(Buffer.concat(chunks));
}

/** Text and nothing else: bytes that are none would reach the model as something nobody wrote. */
function decode(bytes: Buffer): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Said below, as for text with null characters.
  }
  throw new RetinueError(
    "input",
    "the task on stdin is not text in UTF-8",
    "convert it first, such as with: iconv -f latin1 -t utf-8",
  );
}
