import { createHash } from "node:crypto";
import type { Ledger, Need, Refusal, Reservation } from "../budget/ledger.ts";
import { decide } from "../rights/decide.ts";
import type { Decision } from "../schema/rights.ts";
import type { AnyTool } from "../tools/tool.ts";
import { type Validated, validateInput } from "../tools/validate-input.ts";
import { checkDeliverables } from "./deliverables.ts";
import { escapeTags } from "./escape-tags.ts";
import type { KnownAddresses } from "./known-addresses.ts";
import { distinctCalls } from "./model/distinct-calls.ts";
import { type MeasuredUsage, measureUsage } from "./model/measure-usage.ts";
import type { ReplyReader, ToolCall } from "./model/read-stream.ts";
import { isRepeating } from "./turns/repetition.ts";

/** Whose text may have a say in what a run does: that of others outside, or that of the project. */
export type Steering = { readonly tainted: boolean; readonly projectText: boolean };

/**
 * The checks that keep runs honest, each behind a name. The runtime always uses these; only the testing entry can
 * put others in their place, which is how a test shows that a guard matters.
 */
export type Guards = {
  decide: typeof decide;
  validate: (tool: AnyTool, text: string) => Promise<Validated>;
  /** An outbound call of a run that others' text may steer needs a person, unless a rule names whom it reaches, or the command, where that text is only the project's. */
  needsPerson: (by: Steering, outbound: boolean, decision: Decision) => boolean;
  /** What of a call's requests to the web the model put together when it knew private data and others' text. */
  composedRequests: (
    run: Steering & { privateData: boolean },
    requests: readonly string[],
    known: Pick<KnownAddresses, "has">,
  ) => readonly string[];
  /** What a tainted run wrote taints who reads it. */
  taintsReader: (isUntrusted: boolean) => boolean;
  /** Why a person must confirm this call; null if a rule names whom it reaches or the command it runs, or nobody must. */
  mustConfirm: (reason: string | null, decision: Decision) => string | null;
  /** A call whose input holds a secret does not reach anybody outside. */
  leaksSecret: (holdsSecret: boolean, reachesOutside: boolean) => boolean;
  reserve: (account: Ledger, need: Need, signal: AbortSignal) => Promise<Reservation | Refusal>;
  measure: typeof measureUsage;
  escapeText: (text: string) => string;
  isRepeating: typeof isRepeating;
  isEmpty: (text: string) => boolean;
  checkDeliverables: typeof checkDeliverables;
  maxCallsPerTurn: number;
  /** Characters after which a reply that goes on is given up. */
  maxReplyChars: number;
  /** Only a stream that reached its end gives a reply, and with it calls that run. */
  isWhole: (reader: ReplyReader) => boolean;
  /** No call runs of a reply that was cut at the output limit, filtered, or ended in another way than a whole one. */
  isFinished: (call: ToolCall) => boolean;
  distinctCalls: typeof distinctCalls;
  /** What an approval is bound to: exactly this call of this tool. */
  inputHash: (tool: string, input: unknown) => string;
};

/** Nothing that a reader could see. */
const INVISIBLE = /^[\s\p{Cc}\p{Default_Ignorable_Code_Point}]*$/u;

export const guards: Guards = Object.freeze({
  decide,
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

export type { MeasuredUsage };
