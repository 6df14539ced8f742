import { decide } from "../permissions/decide.ts";
import type { Account, Need, Refusal, Reservation } from "../scheduler/ledger.ts";
import type { Decision } from "../schema/rights.ts";
import { type Validated, validateInput } from "../tools/validate-input.ts";
import type { AnyTool } from "../tools/tool.ts";
import { escapeTags } from "./escape-tags.ts";
import { isRepeating } from "./repetition.ts";
import { checkDeliverables } from "./deliverables.ts";
import { type MeasuredUsage, measureUsage } from "./measure-usage.ts";

/**
 * The checks that keep runs honest, each behind a name. The runtime always uses these; only the testing entry can
 * put others in their place, which is how a test shows that a guard matters.
 */
export type Guards = {
  decide: typeof decide;
  validate: (tool: AnyTool, text: string) => Promise<Validated>;
  /** An outbound call of a tainted run needs a person, unless a rule names the recipient. */
  needsPerson: (tainted: boolean, outbound: boolean, decision: Decision) => boolean;
  reserve: (account: Account, need: Need, signal: AbortSignal) => Promise<Reservation | Refusal>;
  measure: typeof measureUsage;
  escape: (text: string) => string;
  isRepeating: typeof isRepeating;
  isEmpty: (text: string) => boolean;
  checkDeliverables: typeof checkDeliverables;
  maxCallsPerTurn: number;
};

export const guards: Guards = Object.freeze({
  decide,
  validate: validateInput,
  needsPerson: (tainted: boolean, outbound: boolean, decision: Decision) => tainted && outbound && !decision.consented,
  reserve: (account: Account, need: Need, signal: AbortSignal) => account.reserve(need, signal),
  measure: measureUsage,
  escape: escapeTags,
  isRepeating,
  isEmpty: (text: string) => text.trim() === "",
  checkDeliverables,
  maxCallsPerTurn: 64,
});

export type { MeasuredUsage };
