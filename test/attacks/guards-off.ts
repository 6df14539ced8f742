import type { RuntimeInternals } from "@retinue/core/host/create-host";
import type { Guards } from "@retinue/core/run/run";

/** A guard of the runtime, or a protection that tests can replace as a whole. */
export type GuardName = keyof Guards | "redactor";

/** At least one guard. */
export type NamedGuards = readonly [GuardName, ...GuardName[]];

/** Every guard as it would be if it were not there. */
const OFF: { [Name in keyof Guards]: Guards[Name] } = {
  decide: () => ({ verdict: "allow", layer: "off", reason: "off", consented: true }),
  visibleTools: (_, tools) => tools.map((tool) => tool.name),
  admitChild: () => null,
  validate: async (_, text) => {
    try {
      return { ok: true, value: JSON.parse(text) };
    } catch {
      return { ok: true, value: {} };
    }
  },
  needsPerson: () => false,
  composedRequests: () => [],
  taintsReader: () => false,
  mustConfirm: () => null,
  leaksSecret: () => false,
  reserve: async (account, { outputTokens }) => ({
    kind: "reserved",
    outputTokens,
    settle: (tokens, costUsd) => {
      account.tokensSpent += tokens;
      account.costSpent += costUsd;
    },
  }),
  measure: (reported) => ({
    doubt: null,
    usage: {
      inputTokens: reported?.inputTokens.total ?? 0,
      outputTokens: reported?.outputTokens.total ?? 0,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    },
  }),
  escapeText: (text) => text,
  isRepeating: () => "no",
  isEmpty: () => false,
  checkDeliverables: async () => [],
  maxCallsPerTurn: Number.POSITIVE_INFINITY,
  maxReplyChars: Number.POSITIVE_INFINITY,
  isWhole: () => true,
  isFinished: () => true,
  distinctCalls: (_, calls) => [...calls],
  inputHash: () => "the same for all",
};

/** How to build a runtime without one guard. */
export const GUARDS_OFF: Readonly<Record<GuardName, RuntimeInternals>> = {
  ...(Object.fromEntries(
    Object.entries(OFF).map(([name, off]) => [name, { guards: { [name]: off } }]),
  ) as Record<keyof Guards, RuntimeInternals>),
  redactor: {
    redactor: {
      redact: (text) => text,
      redactCut: (text) => text,
      redactJson: (value) => value,
      stream: () => ({ push: (chunk) => chunk, end: () => "", cut: () => "" }),
      findHidden: () => "none",
    },
  },
};
