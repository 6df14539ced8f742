import type { Limits } from "../../schema/agent.ts";
import { COUNTED_LIMITS, type CountedLimit } from "../../schema/check-numbers.ts";
import { type Attempt, type Draft, setField, writtenInner, writtenKey } from "./draft.ts";
import { keysAt, removeYamlEntry, setValue } from "./yaml-source.ts";

/** Other programs' names of two limits, in the order in which they count. */
const VENDOR_KEYS: Partial<Record<CountedLimit, readonly string[]>> = {
  turns: ["maxTurns", "maxSteps", "steps"],
  minutes: ["timeoutMins"],
};

/** Ways to write limits: each where the file has it, else where its program would look for it. */
export function limitsAttempts(desired: Limits | null, current: Limits): Attempt[] {
  return [(draft) => writeLimits(draft, desired ?? {}, current)];
}

function writeLimits(draft: Draft, desired: Limits, current: Limits): string {
  let { yaml } = draft;
  for (const limit of COUNTED_LIMITS) {
    const wanted = desired[limit];
    if (wanted === current[limit]) continue;
    yaml =
      wanted === undefined
        ? removeLimit({ ...draft, yaml }, limit)
        : setLimit({ ...draft, yaml }, limit, String(wanted));
  }
  const { perTool = {} } = desired;
  const { perTool: before = {} } = current;
  for (const tool of new Set([...Object.keys(before), ...Object.keys(perTool)])) {
    if (perTool[tool] === before[tool]) continue;
    yaml = setPerTool({ ...draft, yaml }, tool, perTool[tool]);
  }
  return yaml;
}

function setLimit(draft: Draft, limit: CountedLimit, source: string): string {
  const key = writtenKey(draft, "limits");
  if (key !== undefined && writtenInner(draft, key, limit) !== undefined)
    return setField(draft, "limits", source, limit);
  const names = VENDOR_KEYS[limit] ?? [];
  const there = names.find((name) => writtenKey(draft, name) !== undefined);
  if (there !== undefined) return setField(draft, there, source);
  const usual = draft.format === "opencode" ? "steps" : draft.format === "copilot" ? undefined : names[0];
  const isUsual =
    usual !== undefined && names.includes(usual) && draft.format !== "native" && key === undefined;
  // Of the programs whose files are read, only Gemini has a limit of time.
  if (isUsual && (limit === "turns" || draft.format === "gemini")) return setField(draft, usual, source);
  return setField(draft, "limits", source, limit);
}

function removeLimit(draft: Draft, limit: CountedLimit): string {
  let { yaml } = draft;
  const key = writtenKey(draft, "limits");
  const inner = key === undefined ? undefined : writtenInner(draft, key, limit);
  if (key !== undefined && inner !== undefined) yaml = removeYamlEntry(yaml, [key, inner]);
  for (const name of VENDOR_KEYS[limit] ?? []) {
    const vendor = writtenKey({ yaml }, name);
    if (vendor !== undefined) yaml = removeYamlEntry(yaml, [vendor]);
  }
  return yaml;
}

function setPerTool(draft: Draft, tool: string, calls: number | undefined): string {
  const key = writtenKey(draft, "limits");
  const inner = key === undefined ? undefined : writtenInner(draft, key, "perTool");
  if (calls === undefined) return key && inner ? removeYamlEntry(draft.yaml, [key, inner, tool]) : draft.yaml;
  if (key === undefined || inner === undefined || keysAt(draft.yaml, [key, inner]).length === 0)
    return setField(draft, "limits", `{ ${tool}: ${calls} }`, "perTool");
  return setValue(draft.yaml, [key, inner, tool], String(calls));
}
