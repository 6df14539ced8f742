import { loopPrompt } from "../load-prompt.ts";
import type { Reply } from "../model/read-stream.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";
import { check, missingList } from "./check-contract.ts";
import { askToGoOn, endCut, joinAnswer, nameLimit } from "./cut-answer.ts";
import { fail, NEXT_TURN, type Next } from "./next.ts";
import { mustDelegate } from "./owed-delegations.ts";

/** The model made no calls: it claims to be done. The host looks before it believes. */
export async function afterAnswer(run: Run, reply: Reply, ports: LoopPorts): Promise<Next> {
  const parts = [...run.cutAnswer, reply.text];
  const text = joinAnswer(parts);
  if (reply.finish === "content-filter")
    return fail(text, "content_filter", "the provider's content filter stopped the reply");
  if (reply.finish === "error") return fail(text, "bad_response", "the model ended with an error");
  const remaining = await ports.remainingResults(run);
  if (remaining !== null || run.steering.length > 0) {
    run.cutAnswer = [];
    if (remaining !== null) run.pushUser(remaining);
    return NEXT_TURN;
  }
  if (ports.guards.isEmpty(reply.text)) return afterNothing(run, reply);
  if (reply.finish === "length") {
    askToGoOn(run, parts, reply);
    return NEXT_TURN;
  }
  run.cutAnswer = [];
  if (mustDelegate(run, ports)) return NEXT_TURN;
  const verdicts = await check(run, text, ports);
  if (verdicts.some((verdict) => !verdict.ok)) {
    if (run.repairsLeft-- <= 0) return { kind: "end", ending: { status: "completed", text, verdicts } };
    run.pushUser(loopPrompt("repair", { missing: missingList(verdicts) }));
    return NEXT_TURN;
  }
  return { kind: "end", ending: { status: "completed", text, partial: false, verdicts } };
}

/** Nothing that a reader could see: the model is asked once more, unless it had answered in part before. */
function afterNothing(run: Run, { finish, maxOutputTokens }: Reply): Next {
  if (run.cutAnswer.length > 0)
    return { kind: "end", ending: endCut(run, "the model did not go on with it") };
  if (run.emptyReplies++ > 0) return fail("", "bad_response", "the model answered with nothing, twice");
  run.pushUser(
    finish === "length"
      ? loopPrompt("cut-before-text", { limit: nameLimit(maxOutputTokens) })
      : loopPrompt("empty-reply"),
  );
  return NEXT_TURN;
}
