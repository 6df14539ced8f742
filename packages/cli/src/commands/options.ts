import {
  AT_LEAST_ONE,
  COUNT,
  describeRange,
  isInRange,
  type NumberRange,
  POSITIVE,
  SCALE,
} from "@retinue/core/schema/number-range";
import { type Command, InvalidArgumentError, Option } from "commander";

/** Reads a whole number of at least 1. */
export function parseWholeNumber(text: string): number {
  return readInRange(text, AT_LEAST_ONE);
}

/** Reads a whole number of at least 0. */
export function parseCount(text: string): number {
  return readInRange(text, COUNT);
}

/** Reads an amount above 0. */
export function parseAmount(text: string): number {
  return readInRange(text, POSITIVE);
}

/** Limits that suit strong models with large windows. */
const ROOMY = 3;

/** Reads by how much the limits of agents are raised: a word, or a number. */
function parseLimitsScale(text: string): number {
  if (text === "roomy") return ROOMY;
  if (text === "normal") return 1;
  return readInRange(text, SCALE, "roomy, normal, or ");
}

function readInRange(text: string, range: NumberRange, words = ""): number {
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (isInRange(value, range)) return value;
  throw new InvalidArgumentError(`It must be ${words}${describeRange(range)}.`);
}

const UNITS_MS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
const AGO = /^(\d{1,6})([mhdw])$/;
const DATE = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)?$/;
const ZONE = /(?:Z|[+-]\d\d:\d\d)$/;

/** Reads `7d` and the like, or an ISO date, as a moment; like all times that are shown, a date without a zone is UTC. */
export function parseSince(text: string): number {
  const moment = ago(text) ?? date(text);
  if (moment !== undefined) return moment;
  throw new InvalidArgumentError("It must be like 30m, 24h, 7d, 2w, 2026-01-31 or 2026-01-31T08:00.");
}

function ago(text: string): number | undefined {
  const [, count, unit] = AGO.exec(text) ?? [];
  if (count === undefined || unit === undefined || !isUnit(unit)) return undefined;
  return Date.now() - Number(count) * UNITS_MS[unit];
}

function date(text: string): number | undefined {
  const zone = text.includes("T") ? ZONE.exec(text)?.[0] : undefined;
  const local = zone === undefined ? text : text.slice(0, -zone.length);
  if (!DATE.test(local)) return undefined;
  const utc = Date.parse(local.includes("T") ? `${local}Z` : local);
  // A day that the month does not have would otherwise be taken for one of the next.
  if (Number.isNaN(utc) || !new Date(utc).toISOString().startsWith(local.slice(0, 10))) return undefined;
  const moment = zone === undefined ? utc : Date.parse(text);
  return Number.isNaN(moment) ? undefined : moment;
}

function isUnit(unit: string): unit is keyof typeof UNITS_MS {
  return Object.hasOwn(UNITS_MS, unit);
}

const MODES = ["default", "acceptEdits", "plan", "bypassPermissions"];

/** The option that says how asks are answered without a person. */
export function createModeOption(): Option {
  return new Option("--permission-mode <mode>", "how asks are answered without a person").choices(MODES);
}

/** Programs whose agents can be imported. */
export const VENDORS = ["claude", "opencode", "copilot", "gemini"] as const;

/** What names something that changed files. */
export const NAMED_CHANGES =
  "id of a run, a session, a merge or an undo, or the beginning of it; `last` for this project's last session";

/** Adds what a new task can be given: model, limits, form and place of what it leaves, more agents. */
export function addRunning(command: Command): Command {
  return addOutcome(addShowing(command.option("-m, --model <model>", "an alias or provider/model-id")))
    .option("--max-turns <n>", "at most this many turns of the first agent", parseWholeNumber)
    .option("--max-budget-usd <amount>", "at most this much for the whole tree", parseAmount)
    .option("--max-depth <n>", "how deep agents may delegate", parseCount)
    .option("--max-agents <n>", "how many runs there may be in all", parseWholeNumber)
    .option("--max-output-tokens <n>", "tokens of one reply, for agents that do not say", parseWholeNumber)
    .option(
      "--limits <size>",
      "raise all agents' own limits: `roomy` (3 times, for strong models with large windows), or a number",
      parseLimitsScale,
    )
    .option("--no-triggers", "let no word of the task make a delegation mandatory")
    .option("--json-schema <schema>", "the answer must be JSON that fits this schema: a file, or the schema")
    .option("--agents <json>", 'more agents, by name: {"name": {"description": …, "prompt": …}}')
    .addOption(claudeSpelling("--allowedTools <rules>"))
    .addOption(claudeSpelling("--disallowedTools <rules>"));
}

/** Adds what running and resuming have in common: how it is shown, and how asks are answered. */
export function addShowing(command: Command): Command {
  return command
    .option("-p, --print", "print the result only: no progress, and nobody is asked")
    .addOption(
      new Option("--output-format <format>", "how the result is printed")
        .choices(["text", "json", "stream-json"])
        .default("text"),
    )
    .option(
      "--allowed-tools <rules>",
      "approve calls that would be asked about, such as `shell(npm test *)`",
      collectValue,
      [],
    )
    .option("--disallowed-tools <rules>", "deny tools to every agent of this run", collectValue, [])
    .addOption(createModeOption());
}

/** Adds what becomes of the session: whether asks can wait, and where its files go. */
export function addOutcome(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--on-ask <what>",
        "instead of asking: `deny`, or `park` the session until someone runs `retinue approve`",
      ).choices(["deny", "park"]),
    )
    .option("--out <dir>", "copy the files of the session's workspace there at the end");
}

/** Hidden, but understood, because existing scripts use it. */
function claudeSpelling(flags: string): Option {
  return new Option(flags).argParser(collectValue).hideHelp();
}

/** The lines below the help of a command. */
export function listExamples(...lines: readonly string[]): string {
  return `\n${lines.length === 1 ? "Example" : "Examples"}:\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** Collects the values of a flag that may be given several times. */
export function collectValue(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
