import { createHash } from "node:crypto";
import type { Ledger, Need } from "../budget/ledger.ts";
import { decide } from "../rights/decide.ts";
import { visibleTools } from "../rights/explain.ts";
import type { RunError } from "../schema/result.ts";
import type { Decision } from "../schema/rights.ts";
import { validateInput } from "../tools/validate-input.ts";
import { checkDeliverables } from "./deliverables.ts";
import { escapeTags } from "./escape-tags.ts";
import type { KnownAddresses } from "./known-addresses.ts";
import { measureUsage } from "./model/measure-usage.ts";
import { distinctCalls, type ReplyReader, type ToolCall } from "./model/reply.ts";
import type { Admission, Steering } from "./ports.ts";
import { isRepeating } from "./repetition.ts";
import type { Guards } from "./run.ts";

/** Nothing that a reader could see. */
const INVISIBLE = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u;

/** The guards as they always are outside of tests. */
export const guards: Guards = Object.freeze({
  decide,
  visibleTools,
  admitChild,
  validate: validateInput,
  needsPerson: (
    { tainted, projectText }: Steering,
    outbound: boolean,
    { consented, namesCommand }: Decision,
  ) => outbound && !consented && (tainted || (projectText && !namesCommand)),
  composedRequests: (
    { tainted, projectText, privateData }: Steering & { privateData: boolean },
    requests: readonly string[],
    known: Pick<KnownAddresses, "has">,
  ) => ((tainted || projectText) && privateData ? requests.filter((request) => !known.has(request)) : []),
  taintsReader: (isUntrusted: boolean) => isUntrusted,
  mustConfirm: (reason: string | null, { consented, namesCommand }: Decision) =>
    consented || namesCommand ? null : reason,
  leaksSecret: (holdsSecret: boolean, reachesOutside: boolean) => holdsSecret && reachesOutside,
  reserve: (account: Ledger, need: Need, signal: AbortSignal) => account.reserve(need, signal),
  measure: measureUsage,
  escapeText: escapeTags,
  isRepeating,
  isEmpty: (text: string) => INVISIBLE.test(text),
  checkDeliverables,
  maxCallsPerTurn: 64,
  maxReplyChars: 32_000_000,
  isWhole: (reader: ReplyReader) => reader.finished,
  isFinished: (call: ToolCall) => call.unfinished === undefined,
  distinctCalls,
  inputHash: (tool: string, input: unknown) =>
    createHash("sha256")
      .update(JSON.stringify([tool, input]))
      .digest("hex"),
});

/** The gate every child run passes, no matter who asks for it: depth and circles. Null lets it through. */
function admitChild({ child, parent, line, depth, maxDepth }: Admission): RunError | null {
  if (depth > maxDepth) {
    const path = [...line, child.name].join(" > ");
    const message = `delegation depth ${depth} exceeds the limit of ${maxDepth} (${path}); do this part yourself`;
    return { type: "depth_exceeded", message, recoverable: false };
  }
  if (line.includes(child.name) && !parent.subagents?.recursive) {
    const path = [...line.slice(line.indexOf(child.name)), child.name].join(" → ");
    const message = `'${child.name}' is already at work above (${path}); set subagents.recursive in '${parent.name}' to allow this`;
    return { type: "cycle", message, recoverable: false };
  }
  return null;
}
