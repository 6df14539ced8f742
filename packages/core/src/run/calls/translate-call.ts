import { ourNames } from "../../agents/fields/tool-names.ts";
import { gatherKeys, translateKeys } from "../../tools/accept-words.ts";
import { fitToSchema } from "../../tools/fit-to-schema.ts";
import type { AnyTool } from "../../tools/tool.ts";
import { findSchema, parseJson } from "../../tools/validate-input.ts";
import type { ToolCall } from "../model/reply.ts";

/** Words that models add to explain a call to a reader; no tool does anything else because of them. */
const EXPLAINING: ReadonlySet<string> = new Set(
  "description explanation reason reasoning rationale thought thoughts title comment note purpose activeForm".split(
    " ",
  ),
);

/**
 * Takes a call in the words of other systems (`Bash`, `file_path`, `"5"` for 5) for the call of ours that it means. It is
 * recorded, judged and shown as that. What cannot be understood stays as it was written, and is refused later.
 */
export function translateCall(tools: ReadonlyMap<string, AnyTool>, call: ToolCall): void {
  if (!tools.has(call.tool)) {
    const ours = ourNames(call.tool, "native") ?? [];
    call.tool = ours.find((name) => tools.has(name)) ?? ours[0] ?? call.tool;
  }
  const tool = tools.get(call.tool);
  if (!tool) return;
  const parsed = parseJson(call.input);
  if (!parsed.ok) return;
  call.tool = tool.name;
  const ignored = new Set<string>();
  const { accept, words = {} } = tool;
  const written = parsed.value as Readonly<Record<string, unknown>>;
  const schema = findSchema(tool);
  const renamed = translateKeys(schema, written, words) as Readonly<Record<string, unknown>>;
  const understood = accept ? accept(renamed, (key) => ignored.add(key)) : renamed;
  const onlyReads = tool.risk === "low" && !tool.delegates;
  const mayDrop = (key: string) => {
    const isHarmless = onlyReads || EXPLAINING.has(key);
    // What explains a call is no word worth an answer.
    if (isHarmless && !EXPLAINING.has(key)) ignored.add(key);
    return isHarmless;
  };
  const fitting = { mayDrop, exact: new Set(tool.exact) };
  const value = fitToSchema(schema, understood, fitting);
  if (value !== written) {
    call.input = JSON.stringify(value);
    call.used = gatherKeys(written);
  }
  if (ignored.size > 0) call.ignored = [...ignored];
}
