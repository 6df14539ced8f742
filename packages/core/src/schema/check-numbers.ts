import type { Agent, Limits } from "./agent.ts";
import { AGENT_FIELDS, type AgentField, LIMIT_PARTS } from "./agent-fields.ts";
import { RetinueError } from "./error.ts";
import {
  AMOUNT,
  AT_LEAST_ONE,
  COUNT,
  checkNumber,
  checkObject,
  mustBeInRange,
  type NumberRange,
  POSITIVE,
  SCALE,
} from "./number-range.ts";
import type { Settings } from "./settings.ts";

/** The limits that are one number. */
export const COUNTED_LIMITS = Object.keys(LIMIT_PARTS).filter(
  (name) => name !== "perTool",
) as readonly CountedLimit[];
export type CountedLimit = Exclude<keyof typeof LIMIT_PARTS, "perTool">;

/** Throws for limits of which one is no limit; `where` names whose they are. */
export function checkLimits(where: string, limits: Limits | undefined): void {
  if (limits === undefined) return;
  checkObject(where, limits);
  for (const [name, value] of Object.entries(limits)) {
    if (name === "perTool") checkPerTool(where, value);
    else if (Object.hasOwn(LIMIT_PARTS, name))
      checkNumber(`${where}.${name}`, value, LIMIT_PARTS[name as CountedLimit].kind.range);
    else {
      const known = Object.keys(LIMIT_PARTS).join(", ");
      throw new RetinueError("input", `${where}.${name} is no limit; there are ${known}`, "correct the name");
    }
  }
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
  const values: Readonly<Record<string, unknown>> = { ...agent };
  const where = `of the agent '${agent.name}'`;
  for (const [field, { kind }] of Object.entries<AgentField>(AGENT_FIELDS)) {
    if (kind.is === "number") checkNumber(`${field} ${where}`, values[field], kind.range);
    if (kind.is !== "map" || field === "limits" || (kind.isOptional && values[field] === undefined)) continue;
    const parts: unknown = values[field];
    checkObject(`${field} ${where}`, parts, Object.keys(kind.parts).join(", "));
    const inner: Readonly<Record<string, unknown>> = { ...parts };
    for (const [part, { kind: own }] of Object.entries(kind.parts))
      if (own.is === "number") checkNumber(`${field}.${part} ${where}`, inner[part], own.range);
  }
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
