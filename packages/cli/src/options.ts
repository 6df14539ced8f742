import {
  AT_LEAST_ONE,
  COUNT,
  describeRange,
  isInRange,
  type NumberRange,
  POSITIVE,
  SCALE,
} from "@retinue/core/schema/number-range";
import { PERMISSION_MODES, type PermissionMode } from "@retinue/core/schema/rights";
import { InvalidArgumentError, Option } from "commander";

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

/** What names a recorded session. */
export const SESSION_ID = "a session's id or the beginning of it; `last` for this project's last session";

/** Programs whose agents can be imported. */
export const VENDORS = ["claude", "opencode", "copilot", "gemini"] as const;

type Present<Values> = { [Name in keyof Values]?: Exclude<Values[Name], undefined> };

/** The values that were given: an optional member is left out elsewhere, never undefined. */
export function omitAbsent<Values extends object>(values: Values): Present<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Present<Values>;
}

/** Collects the values of a flag that may be given several times. */
export function collectValue(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** An option and, for the compiler, what its value is. */
type OptionOf<Value> = Option & { readonly gives?: Value };

const make = <Value = string>(flags: string, about: string): OptionOf<Value> => new Option(flags, about);
const number = (flags: string, about: string, parse: (text: string) => number) =>
  make<number>(flags, about).argParser(parse);
const rules = (flags: string, about: string) =>
  make<readonly string[]>(flags, about).argParser(collectValue).default([]);

/** Options that more than one command has, or that belong together. */
const SHARED = {
  yes: make<boolean>("-y, --yes", "do not ask"),
  global: make<boolean>("--global", "among your own agents instead of the project's"),
  limit: number("--limit <n>", "at most this many", parseWholeNumber).default(20),
  output: make("-o, --output <file>", "write to a file that only you can read, and not to stdout"),
  agent: make("--agent <name>", "the agent that answers; `main` or the only one by default"),
  model: make("-m, --model <model>", "an alias or provider/model-id"),
  permissionMode: make<PermissionMode>(
    "--permission-mode <mode>",
    "how asks are answered without a person",
  ).choices(PERMISSION_MODES),
  print: make<boolean>("-p, --print", "print the result only: no progress, and nobody is asked"),
  outputFormat: make<"text" | "json" | "stream-json">("--output-format <format>", "how the result is printed")
    .choices(["text", "json", "stream-json"])
    .default("text"),
  allowedTools: rules(
    "--allowed-tools <rules>",
    "approve calls that would be asked about, such as `shell(npm test *)`",
  ),
  disallowedTools: rules("--disallowed-tools <rules>", "deny tools to every agent of this run"),
  onAsk: make<"deny" | "park">(
    "--on-ask <what>",
    "instead of asking: `deny`, or `park` the session until someone runs `retinue approve`",
  ).choices(["deny", "park"]),
  out: make("--out <dir>", "copy the files of the session's workspace there at the end"),
  maxTurns: number("--max-turns <n>", "at most this many turns of the first agent", parseWholeNumber),
  maxBudgetUsd: number("--max-budget-usd <amount>", "at most this much for the whole tree", parseAmount),
  maxDepth: number("--max-depth <n>", "how deep agents may delegate", parseCount),
  maxAgents: number("--max-agents <n>", "how many runs there may be in all", parseWholeNumber),
  maxOutputTokens: number(
    "--max-output-tokens <n>",
    "tokens of one reply, for agents that do not say",
    parseWholeNumber,
  ),
  limits: number(
    "--limits <size>",
    "raise all agents' own limits: `roomy` (3 times, for strong models with large windows), or a number",
    parseLimitsScale,
  ),
  triggers: make<boolean>("--no-triggers", "let no word of the task make a delegation mandatory"),
  jsonSchema: make(
    "--json-schema <schema>",
    "the answer must be JSON that fits this schema: a file, or the schema",
  ),
  agents: make("--agents <json>", 'more agents, by name: {"name": {"description": …, "prompt": …}}'),
  // Hidden, but understood, because existing scripts use them.
  claudeAllowed: make("--allowedTools <rules>", "").argParser(collectValue).hideHelp(),
  claudeDisallowed: make("--disallowedTools <rules>", "").argParser(collectValue).hideHelp(),
} as const;

/** The name of an option that several commands have. */
export type SharedOption = keyof typeof SHARED;

/** The values of options that several commands have. */
export type SharedOptions = {
  [Name in SharedOption]?: (typeof SHARED)[Name] extends OptionOf<infer Value> ? Value : never;
};

/** Options that several commands have, by their names. */
export function listShared(names: readonly SharedOption[]): readonly Option[] {
  return names.map((name) => SHARED[name]);
}

/** How a task is shown, and how asks are answered. */
export const SHOWING = [
  "print",
  "outputFormat",
  "allowedTools",
  "disallowedTools",
  "permissionMode",
] as const;

/** What becomes of a session: whether asks can wait, and where its files go. */
export const OUTCOME = ["onAsk", "out"] as const;

/** What a new task can be given: model, limits, form and place of what it leaves, more agents. */
export const RUNNING = [
  "model",
  ...SHOWING,
  ...OUTCOME,
  "maxTurns",
  "maxBudgetUsd",
  "maxDepth",
  "maxAgents",
  "maxOutputTokens",
  "limits",
  "triggers",
  "jsonSchema",
  "agents",
  "claudeAllowed",
  "claudeDisallowed",
] as const satisfies readonly SharedOption[];

/** Says that a list was cut at its limit. */
export function sayMore(limit: number): string {
  return `hint: there are more than ${limit}; see more of them with --limit`;
}
