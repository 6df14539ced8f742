import type { MandatoryDelegation } from "../schema/agent.ts";
import { askToGoOn, endCut, joinAnswer, nameLimit } from "./cut-answer.ts";
import { check, missingList } from "./deliverables.ts";
import { fail, NEXT_TURN, reportGathered } from "./ending.ts";
import { tellWhatIsLeft } from "./limits.ts";
import { loopPrompt } from "./load-prompt.ts";
import type { Reply } from "./model/reply.ts";
import type { Ending, Next } from "./outcome.ts";
import type { Flow, Run } from "./run.ts";

/** The free loop: the model calls tools until it answers without. */
export const loopFlow: Flow = {
  condenses: true,
  hasOwnForm: false,
  actsByWriting: false,
  enterStep: () => null,
  findStepOfReply: () => null,
  afterAnswer,
  afterCalls(run, next, before) {
    if (next.kind === "turn") tellWhatIsLeft(run, before);
    return next;
  },
  keepWork: (run, gathered) =>
    run.cutAnswer.length > 0
      ? joinAnswer([...run.cutAnswer, run.brokenOff])
      : reportGathered(gathered, run.brokenOff),
  replaceReport: (_, gathered, said) => reportGathered(gathered, said),
  finish: (_, ending) => ending,
};

/** The model made no calls: it claims to be done. The host looks before it believes. */
async function afterAnswer(run: Run, reply: Reply): Promise<Next> {
  const parts = [...run.cutAnswer, reply.text];
  const text = joinAnswer(parts);
  if (reply.finish === "content-filter")
    return fail(text, "content_filter", "the provider's content filter stopped the reply");
  if (reply.finish === "error") return fail(text, "bad_response", "the model ended with an error");
  const remaining = (await run.children?.collectRest("wait")) ?? null;
  if (remaining !== null || run.steering.length > 0) {
    run.cutAnswer = [];
    if (remaining !== null) run.pushUser(remaining);
    return NEXT_TURN;
  }
  if (run.host.guards.isEmpty(reply.text)) return afterNothing(run, reply);
  if (reply.finish === "length") {
    askToGoOn(run, parts, reply);
    return NEXT_TURN;
  }
  run.cutAnswer = [];
  if (mustDelegate(run)) return NEXT_TURN;
  const verdicts = await check(run, text);
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

/** Mandatory delegations that a run has not made. */
function findOwed({ mandatory, children }: Run): readonly MandatoryDelegation[] {
  return mandatory.filter(({ agent }) => children?.hasDelegatedTo(agent) !== true);
}

/** Sends an answer back, once, that came without a delegation which the request makes mandatory. */
function mustDelegate(run: Run): boolean {
  const owed = findOwed(run);
  if (owed.length === 0 || run.sentBack) return false;
  run.sentBack = true;
  run.pushUser(loopPrompt("owed-delegation", inWords(owed)));
  return true;
}

/** A run that still ends without it says so in its result and to the person. */
export function tellOwed(run: Run, ending: Ending): void {
  const owed = ending.status === "completed" ? findOwed(run) : [];
  if (owed.length === 0) return;
  const { runId, agent } = run;
  const { agents, words } = inWords(owed);
  const message = `COMPLIANCE WARNING: ${agent.name} answered without delegating to ${agents}, although ${words} in the request makes that mandatory.`;
  run.warnings.push(message);
  run.session.emit({ type: "compliance.failed", runId, agent: agent.name, message });
}

/** Which agents, and which words of the request demand them. */
export function inWords(owed: readonly MandatoryDelegation[]): { agents: string; words: string } {
  const listed = (texts: readonly string[]) => [...new Set(texts)].join(" and ");
  return {
    agents: listed(owed.map(({ agent }) => `\`${agent}\``)),
    words: listed(owed.map(({ word }) => `"${word}"`)),
  };
}
