import type { Move, Procedure, Situation } from "../../../models/offline/procedure.ts";
import { taskText } from "../../../models/offline/task-text.ts";
import type { Assessment } from "../../../schema/intent.ts";
import { assess } from "./assess.ts";
import { assessmentOf, DOMAINS, type Domain, doubt } from "./assessment.ts";
import { nextStep } from "./execute.ts";
import { summarise } from "./summary/summarise.ts";

/** How the four domain agents work without a model: the same rules read the request in every phase, so the plan stays what it was. */
export const domainProcedures: readonly Procedure[] = DOMAINS.map((domain) => ({
  agents: [domain],
  next: (situation) => nextMove(domain, situation),
}));

function nextMove(domain: Domain, situation: Situation): Move {
  const { calls, phase } = situation;
  const assessment = assessmentIn(domain, situation);
  if (phase === "assess") return { say: JSON.stringify(assessment) };
  if (phase === "format") return { say: summarise(domain, assessment, calls) };
  if (phase === "execute") return nextStep(assessment, calls);
  // An agent of that name whose file does not ask for phases.
  if (assessment.status === "failed") return { cannot: assessment.notes };
  const move = nextStep(assessment, calls);
  return "calls" in move && !situation.wrapUp ? move : { say: summarise(domain, assessment, calls) };
}

/** Rules do not look at a clock: the same conversation is always read in the same way. */
function assessmentIn(domain: Domain, { task, now, timezone }: Situation): Assessment {
  const text = taskText(task);
  if (!now)
    return assessmentOf(domain, text, doubt("the current time", "The prompt does not say what time it is."));
  return assess(domain, text, { now, ...(timezone && { timezone }) });
}
