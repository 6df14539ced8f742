import { didYouMean } from "../agents/closest.ts";
import type { Limits } from "../schema/agent.ts";
import { checkLimits } from "../schema/check-numbers.ts";
import { RetinueError } from "../schema/error.ts";
import { COUNT, checkNumber } from "../schema/number-range.ts";

/** Options of `spawn`: a tool-call budget in the place of the agent's own, and a narrower tool list. */
export type SpawnOptions = { budget?: number; tools?: readonly string[]; limits?: Limits };

/** One task of `fanOut`, with what `spawn` takes. */
export type SpawnTask =
  | readonly [agent: string, task: string, options?: SpawnOptions]
  | ({ readonly agent: string; readonly task: string } & SpawnOptions);

/** A task with the limits that its options come to. */
export type ReadTask = {
  readonly agent: string;
  readonly task: string;
  readonly tools?: readonly string[];
  readonly limits?: Limits;
};

const OPTIONS = ["budget", "tools", "limits"];

/** Reads the options of a task; throws for one that there is not, or that is wrong, by its name. */
export function readSpawnOptions(options: SpawnOptions = {}, where = ""): Omit<ReadTask, "agent" | "task"> {
  refuseOthers(options, OPTIONS, where === "" ? "spawn" : where);
  const prefix = where === "" ? "" : `${where}.`;
  const { budget, tools, limits } = options;
  checkNumber(`${prefix}budget`, budget, COUNT);
  checkLimits(`${prefix}limits`, limits);
  if (tools !== undefined) checkTools(`${prefix}tools`, tools);
  const given = { ...limits, ...(budget !== undefined && { toolCalls: budget }) };
  return {
    ...(tools !== undefined && { tools }),
    ...(Object.keys(given).length > 0 && { limits: given }),
  };
}

/** Reads one of several tasks, a list or an object. */
export function readSpawnTask(given: SpawnTask, index: number): ReadTask {
  const where = `tasks[${index}]`;
  if (isTuple(given)) {
    const [agent, task, options, ...others] = given;
    if (others.length > 0)
      throw new RetinueError("input", `${where} has more than an agent, a task and options`);
    return { ...readWords(where, agent, task), ...readSpawnOptions(options, where) };
  }
  refuseOthers(given, ["agent", "task", ...OPTIONS], where);
  const { agent, task, ...options } = given;
  return { ...readWords(where, agent, task), ...readSpawnOptions(options, where) };
}

function readWords(where: string, agent: unknown, task: unknown): { agent: string; task: string } {
  if (typeof agent === "string" && typeof task === "string") return { agent, task };
  throw new RetinueError(
    "input",
    `${where} must name an agent and a task`,
    'write ["agent", "task"] or {agent, task}',
  );
}

function isTuple(given: SpawnTask): given is readonly [string, string, SpawnOptions?] {
  return Array.isArray(given);
}

/** Throws for a list of tools that is none. */
export function checkTools(name: string, tools: unknown): void {
  if (Array.isArray(tools) && tools.every((tool) => typeof tool === "string")) return;
  const shown = JSON.stringify(tools) ?? String(tools);
  throw new RetinueError(
    "input",
    `${name} is ${shown.slice(0, 60)}, but must be a list of names`,
    `write ${name}: ["read", "grep"]`,
  );
}

/** Throws for an option that there is not: what it was meant to hold back would stay open. */
export function refuseOthers(options: unknown, known: readonly string[], where: string): void {
  if (typeof options !== "object" || options === null)
    throw new RetinueError("input", `the options of ${where} must be an object`);
  const other = Object.keys(options).find((key) => !known.includes(key));
  if (other === undefined) return;
  const message = `${other} is no option of ${where}${didYouMean(other, known)}`;
  throw new RetinueError("input", message, `there are ${known.join(", ")}`);
}
