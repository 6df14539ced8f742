import type { Agent, Limits } from "./agent.ts";
import { AGENT_FIELDS, type AgentField, LIMIT_PARTS } from "./agent-fields.ts";
import { RetinueError } from "./error.ts";
import { COUNT, checkNumber, checkObject } from "./number-range.ts";

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
