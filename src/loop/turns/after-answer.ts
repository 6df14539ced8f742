import { loopPrompt } from "../load-prompt.ts";
import type { Reply } from "../model/read-stream.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { check, missingList } from "./check-contract.ts";
import { fail, NEXT_TURN, type Next } from "./next.ts";
import { mustDelegate } from "./owed-delegations.ts";

/** The model made no calls: it claims to be done. The host looks before it believes. */
export async function afterAnswer(run: Run, reply: Reply, ports: LoopPorts): Promise<Next> {
  if (reply.finish === "content-filter")
    return fail(reply.text, "content_filter", "the provider's content filter stopped the reply");
  if (reply.finish === "error") return fail(reply.text, "bad_response", "the model ended with an error");
  const remaining = await ports.remainingResults(run);
  if (remaining !== null) {
    run.pushUser(remaining);
    return NEXT_TURN;
  }
  if (run.steering.length > 0) return NEXT_TURN;
  if (ports.guards.isEmpty(reply.text)) {
    if (run.emptyReplies++ > 0) return fail("", "bad_response", "the model answered with nothing, twice");
    run.pushUser(loopPrompt("empty-reply"));
    return NEXT_TURN;
  }
  if (mustDelegate(run, ports)) return NEXT_TURN;
  const verdicts = await check(run, reply.text, ports);
  if (verdicts.some((verdict) => !verdict.ok)) {
    if (run.repairsLeft-- <= 0)
      return { kind: "end", ending: { status: "completed", text: reply.text, verdicts } };
    run.pushUser(loopPrompt("repair", { missing: missingList(verdicts) }));
    return NEXT_TURN;
  }
  const cut = reply.finish === "length";
  if (cut) run.warnings.push("the reply was cut off by the model's output limit");
  return { kind: "end", ending: { status: "completed", text: reply.text, partial: cut, verdicts } };
}
