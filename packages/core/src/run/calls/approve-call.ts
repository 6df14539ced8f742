import type { Decision, Risk, Target } from "../../schema/rights.ts";
import type { Tool } from "../../tools/tool.ts";
import type { NotedCall } from "../earlier-calls.ts";
import type { Run } from "../run.ts";
import { askTool, waitFor } from "../wait-for.ts";

/** Addresses that a reason names; the input shows them all. */
const MAX_NAMED = 5;

/** What a model can do where nobody answers. */
const WITHOUT_PERSON =
  "nobody is there to give it, nor later in this run: reach the goal in a way that does not do this, or leave it and report what a person has to do";

/** A call that the rules do not deny. */
export type AskedCall = {
  callId: string;
  tool: Tool<unknown>;
  input: unknown;
  targets: readonly Target[];
  decision: Decision;
  risk: Risk;
  outbound: boolean;
  /** What it would ask the web for that a model put together from more than it may tell. */
  composed: readonly string[];
  /** Set if the tool wants some of its calls confirmed. */
  noted?: NotedCall;
};

/**
 * Asks a person where the verdict is `ask`, a run that others may steer acts outside, or the tool wants this call confirmed; null if
 * nobody needs to be asked.
 */
export async function approveIfNeeded(
  run: Run,
  asked: AskedCall,
): Promise<{ allowed: boolean; text: string } | null> {
  const { tool, input, targets, decision, outbound, composed, noted } = asked;
  const isOutside = outbound || composed.length > 0;
  const isSteered = run.host.guards.needsPerson(
    { tainted: run.tainted, projectText: run.session.projectText.hasEntered },
    isOutside,
    decision,
  );
  const earlier = noted ? run.session.earlier.before(noted) : [];
  const confirm = run.host.guards.mustConfirm(
    (await askTool(run, tool.confirm?.(input, run, earlier))) ?? null,
    decision,
  );
  if (decision.verdict === "allow" && !isSteered && !confirm) return null;
  const approvalId = run.host.createId("apr");
  const shownInput = run.host.redactor.redactJson(input);
  const reason = [
    isSteered && outbound && `it acts outside, and ${whoSteers(run)}`,
    isSteered && composed.length > 0 && run.host.redactor.redact(describeComposed(composed, whoSteers(run))),
    confirm && run.host.redactor.redact(confirm),
    !isSteered && !confirm && run.host.redactor.redact(decision.reason),
  ]
    .filter(Boolean)
    .join("; ");
  const presented = tool.present && run.host.redactor.redact(await askTool(run, tool.present(input)));
  const chain = [...run.ancestors, run.agent.name];
  run.session.emit({
    type: "approval.requested",
    runId: run.runId,
    approvalId,
    tool: tool.name,
    input: shownInput,
    ...(presented !== undefined && { presented }),
    reason,
    chain,
  });
  const asking = run.host.approve(
    {
      approvalId,
      runId: run.runId,
      sessionId: run.session.id,
      callId: asked.callId,
      tool: tool.name,
      groups: tool.groups,
      targets,
      input: shownInput,
      ...(presented !== undefined && { presented }),
      inputHash: run.host.guards.inputHash(tool.name, [input, targets]),
      risk: isSteered && composed.length > 0 ? "high" : asked.risk,
      reason,
      chain,
      tainted: isSteered && run.tainted,
      mustConfirm: confirm !== null,
    },
    run.signal,
  );
  const answer = await waitFor(run, "approval", asking);
  const note = answer.note ? { note: run.host.redactor.redact(answer.note) } : {};
  run.session.emit({
    type: "approval.settled",
    runId: run.runId,
    approvalId,
    allowed: answer.allowed,
    by: answer.by,
    ...note,
  });
  if (answer.allowed) return { allowed: true, text: answer.by };
  // If nobody is there, the note is for the person who starts such a run.
  const isAlone = answer.by === "nobody";
  const who = isAlone ? WITHOUT_PERSON : `${answer.by} did not give it`;
  const why = answer.note && !isAlone ? `: ${answer.note}` : "";
  return { allowed: false, text: `'${tool.name}' needs approval (${reason}), and ${who}${why}` };
}

function whoSteers({ tainted }: Run): string {
  return tainted
    ? "untrusted text has entered this run"
    : "text of the project, which others may have written, has entered this session (unless your settings name it in trustedProjects)";
}

function describeComposed(composed: readonly string[], who: string): string {
  const named = composed.slice(0, MAX_NAMED).join(" ");
  const more = composed.length > MAX_NAMED ? ` and ${composed.length - MAX_NAMED} more` : "";
  return `it asks the web for what was put together after private data was read, and ${who}: ${named}${more}`;
}
