import type { ModelCall, ModelOutcome } from "../model/call-model.ts";
import { closeTurn, openTurn } from "../model/record-turn.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import type { Recorded } from "./recorded.ts";

const UNUSED = {
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
  doubt: null,
  costUsd: 0,
};
const NOTHING_RESERVED = { contextTokens: 0, reserved: 0, reservedUsd: 0 };

/** A model call of a replay, with all its attempts: nothing is reserved, waited for or spent. */
export function replayCall(run: Run, call: ModelCall, recorded: Recorded, ports: LoopPorts): ModelOutcome {
  while (true) {
    const next = recorded.reply(run, call.purpose);
    if (next.kind !== "streamed") return next;
    const { streamed } = next;
    run.model = { ...run.model, id: next.modelId };
    const turn = openTurn(run, { purpose: call.purpose, ...NOTHING_RESERVED }, ports);
    if (streamed.kind === "reply")
      streamed.reply.calls = ports.guards.distinctCalls(run, streamed.reply.calls);
    closeTurn(run, turn, streamed, UNUSED, ports);
    if (streamed.kind === "reply") return { kind: "reply", reply: streamed.reply, tokens: 0 };
    if (next.again) continue;
    return {
      kind: "failed",
      error: streamed.error,
      ...(streamed.bailout && { bailout: streamed.bailout }),
    };
  }
}
