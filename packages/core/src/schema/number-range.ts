import type { Agent, Limits } from "./agent.ts";
import { RetinueError } from "./error.ts";
import type { Settings } from "./settings.ts";

/** What a number must be: finite, at least `min` (or above it), at most `max`, and whole where it counts something. */
export type NumberRange = { min: number; whole?: boolean; max?: number; above?: boolean };

/** The largest number that any limit takes: beyond it sums are not exact, and a product may be infinite. */
export const LARGEST = Number.MAX_SAFE_INTEGER;

/** A number of things of which none is possible. */
export const COUNT: NumberRange = { min: 0, whole: true };
/** A number of things of which one must be possible. */
export const AT_LEAST_ONE: NumberRange = { min: 1, whole: true };
/** An amount above nothing. */
export const POSITIVE: NumberRange = { min: 0, above: true };
/** An amount, or nothing. */
export const AMOUNT: NumberRange = { min: 0 };
/** By how much the limits of agents can be raised or lowered. */
export const SCALE: NumberRange = { min: 0, above: true, max: 100 };
/** What models take as their temperature. */
export const TEMPERATURE: NumberRange = { min: 0, max: 2 };

/** Every limit and what it accepts. */
export const LIMIT_RANGES: Readonly<Record<Exclude<keyof Limits, "perTool">, NumberRange>> = {
  turns: AT_LEAST_ONE,
  toolCalls: COUNT,
  contextChars: AT_LEAST_ONE,
  minutes: POSITIVE,
  tokens: AT_LEAST_ONE,
  costUsd: AMOUNT,
  spawns: COUNT,
  depth: COUNT,
};

/** Whether a value is a number of the range. */
export function isInRange(value: unknown, range: NumberRange): value is number {
  const { min, max = LARGEST, whole = false, above = false } = range;
  if (typeof value !== "number" || !Number.isFinite(value) || value > max) return false;
  return (above ? value > min : value >= min) && (!whole || Number.isInteger(value));
}

/** What a range accepts, in words. */
export function describeRange({ min, max, whole = false, above = false }: NumberRange): string {
  const kind = whole ? "a whole number" : "a number";
  const upper = max === undefined ? "" : ` and at most ${max}`;
  return above ? `${kind} above ${min}${upper}` : `${kind} of at least ${min}${upper}`;
}

/** Throws for a number that is not in its range, by its name; absent is fine. */
export function checkNumber(name: string, value: unknown, range: NumberRange): void {
  if (value !== undefined) mustBeInRange(name, value, range);
}

function mustBeInRange(name: string, value: unknown, range: NumberRange): void {
  if (isInRange(value, range)) return;
  const accepted = describeRange(range);
  const why = typeof value === "number" && value > LARGEST ? " that is not beyond all measure" : "";
  throw new RetinueError(
    "input",
    `${name} is ${show(value)}, but must be ${accepted}${why}`,
    `set ${name} to ${accepted}`,
  );
}

function show(value: unknown): string {
  const isPlain = typeof value !== "string" && (typeof value !== "object" || value === null);
  return isPlain ? String(value) : (JSON.stringify(value) ?? "no JSON").slice(0, 60);
}

/** Throws for limits of which one is no limit; `where` names whose they are. */
export function checkLimits(where: string, limits: Limits | undefined): void {
  if (limits === undefined) return;
  checkObject(where, limits);
  for (const [name, value] of Object.entries(limits)) {
    if (name === "perTool") checkPerTool(where, value);
    else if (Object.hasOwn(LIMIT_RANGES, name))
      checkNumber(`${where}.${name}`, value, LIMIT_RANGES[name as keyof typeof LIMIT_RANGES]);
    else {
      const known = [...Object.keys(LIMIT_RANGES), "perTool"].join(", ");
      throw new RetinueError("input", `${where}.${name} is no limit; there are ${known}`, "correct the name");
    }
  }
}

function checkObject(name: string, value: unknown, of = "numbers by their names"): asserts value is object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new RetinueError(
    "input",
    `${name} is ${show(value)}, but must be an object of ${of}`,
    `set ${name} to an object`,
  );
}

/** Throws for a part of the settings that lacks a number, or has one out of its range. */
function checkPart(name: string, part: unknown, ranges: Readonly<Record<string, NumberRange>>): void {
  checkObject(name, part);
  const values: Readonly<Record<string, unknown>> = { ...part };
  for (const [key, range] of Object.entries(ranges)) mustBeInRange(`${name}.${key}`, values[key], range);
}

function checkPerTool(where: string, perTool: unknown): void {
  if (perTool === undefined) return;
  checkObject(`${where}.perTool`, perTool, "numbers by the tool's name");
  for (const [tool, calls] of Object.entries(perTool)) checkNumber(`${where}.perTool.${tool}`, calls, COUNT);
}

/** Throws for an agent of which a number besides its limits is out of its range. */
export function checkAgentNumbers(agent: Agent): void {
  const { name, subagents, retry } = agent;
  checkNumber(`maxOutputTokens of the agent '${name}'`, agent.maxOutputTokens, AT_LEAST_ONE);
  checkNumber(`temperature of the agent '${name}'`, agent.temperature, TEMPERATURE);
  checkNumber(`subagents.maxConcurrent of the agent '${name}'`, subagents?.maxConcurrent, AT_LEAST_ONE);
  checkObject(`retry of the agent '${name}'`, retry, "attempts, on and backoffMs");
  checkNumber(`retry.attempts of the agent '${name}'`, retry.attempts, { ...COUNT, max: 10 });
  checkNumber(`retry.backoffMs of the agent '${name}'`, retry.backoffMs, AMOUNT);
}

/** Throws for settings from code of which a number besides their limits is missing or out of its range. */
export function checkSettingNumbers(settings: Settings): void {
  checkObject("settings.limits", settings.limits);
  checkNumber("settings.limits.scale", settings.limits.scale, SCALE);
  checkNumber("settings.maxOutputTokens", settings.maxOutputTokens, AT_LEAST_ONE);
  checkPart("settings", settings, {
    maxConcurrent: AT_LEAST_ONE,
    maxDepth: COUNT,
    maxAgents: AT_LEAST_ONE,
    graceSeconds: AMOUNT,
  });
  checkPart("settings.watchdog", settings.watchdog, { firstTokenMs: POSITIVE, idleMs: POSITIVE });
  checkPart("settings.shell", settings.shell, {
    seconds: POSITIVE,
    testSeconds: POSITIVE,
    memoryMb: AT_LEAST_ONE,
    pids: AT_LEAST_ONE,
    diskMb: AT_LEAST_ONE,
  });
  checkPart("settings.web", settings.web, { maxPageMb: POSITIVE });
  checkObject("settings.store", settings.store, "synchronous and retentionDays");
  checkNumber("settings.store.retentionDays", settings.store.retentionDays, AT_LEAST_ONE);
  checkObject("settings.providers", settings.providers, "providers by their names");
  for (const [name, provider] of Object.entries(settings.providers)) {
    checkObject(`settings.providers.${name}`, provider, "what reaches it");
    checkNumber(`settings.providers.${name}.maxConcurrent`, provider.maxConcurrent, AT_LEAST_ONE);
  }
  checkObject("settings.prices", settings.prices, "prices by the model's name");
  for (const [name, price] of Object.entries(settings.prices)) checkPrice(`settings.prices.${name}`, price);
}

function checkPrice(name: string, price: unknown): void {
  checkPart(name, price, { input: AMOUNT, output: AMOUNT });
  for (const [part, value] of Object.entries(price as object))
    checkNumber(`${name}.${part}`, value, part === "maxOutputTokens" ? AT_LEAST_ONE : AMOUNT);
}
