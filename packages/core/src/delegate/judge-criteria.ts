import { loadPrompt } from "../run/load-prompt.ts";
import { isClosed, resultOfRow } from "../run/read-row.ts";
import type { Run, SpawnRequest } from "../run/run.ts";
import { messageOf } from "../schema/error.ts";
import type { JsonSchema } from "../schema/json-schema.ts";
import type { CriteriaVerdict, RunResult } from "../schema/result.ts";
import { excerpt } from "../tools/truncate.ts";
import { createProfile, restoreProfile } from "./profile.ts";

const REVIEWER = "reviewer";
/** The call id of the run that judges; no model's call has it. */
const VERIFY_CALL = "verify-criteria";
const MAX_ANSWER_CHARS = 20_000;
const VERIFY = new URL("./prompts/verify-criteria.md", import.meta.url);
const ANSWER_FORM = new URL("./prompts/answer-form.md", import.meta.url);

const VERDICT: JsonSchema = {
  type: "object",
  properties: { met: { type: ["boolean", "null"] }, reason: { type: "string", minLength: 1 } },
  required: ["met", "reason"],
};

/** What a task says of the form that its answer must have. */
export function askForForm(schema: unknown): string {
  return loadPrompt(ANSWER_FORM, { schema: JSON.stringify(schema) });
}

/**
 * Judges a run by its success criteria: by the commands of its contract, else by a reviewer below it if its agent wants
 * that; without either they are not verified, which is said and never taken for met. The reviewer's own result comes along.
 */
export async function judgeCriteria(
  run: Run,
  request: SpawnRequest,
  result: RunResult,
): Promise<{ result: RunResult; reviewer?: RunResult }> {
  const { criteria } = request;
  if (criteria === undefined || criteria.trim() === "") return { result };
  const commands = result.deliverables.filter(({ deliverable }) => deliverable.startsWith("$ "));
  if (commands.length > 0) {
    const failed = commands.find(({ ok }) => !ok);
    const names = commands.map(({ deliverable }) => `\`${deliverable}\``).join(", ");
    const reason = failed ? `\`${failed.deliverable}\`: ${failed.reason}` : `${names} exited with 0`;
    return {
      result: withVerdict(result, { criteria, verdict: failed ? "not_met" : "met", by: "commands", reason }),
    };
  }
  const unverified = (reason: string) =>
    withVerdict(result, { criteria, verdict: "not_verified", by: null, reason });
  if (run.agent.verify !== REVIEWER) return { result: unverified("nobody judged them") };
  if (!result.success || run.interruption) return { result: unverified("the run did not complete") };
  const reviewer = await review(run, request, result).catch(messageOf);
  if (typeof reviewer === "string") return { result: unverified(reviewer) };
  const { met, reason } = readVerdict(reviewer);
  const verdict = met === null ? "not_verified" : met ? "met" : "not_met";
  const judged = { criteria, verdict, by: REVIEWER, reason, run_id: reviewer.run_id } as const;
  return { result: withVerdict(result, judged), reviewer };
}

/** The result of the reviewer's run, or why there is none. */
async function review(run: Run, request: SpawnRequest, result: RunResult): Promise<RunResult | string> {
  const { session, host } = run;
  const { redactor, guards, registry } = host;
  const before = request.resume?.children.find((row) => row.call_id === VERIFY_CALL);
  if (before && isClosed(before)) return resultOfRow(before);
  const agent = registry.get(REVIEWER);
  if (!agent) return registry.unknownAgentMessage(REVIEWER);
  const line = [...run.ancestors, run.agent.name];
  const place = { child: agent, parent: run.agent, line, depth: run.depth + 1, maxDepth: run.maxDepth };
  const refusal = guards.admitChild(place);
  if (refusal) return refusal.message;
  const words = {
    agent: run.agent.name,
    task: guards.escapeText(run.asked),
    criteria: guards.escapeText(request.criteria ?? ""),
    answer: guards.escapeText(excerpt(result.details, MAX_ANSWER_CHARS, "the middle is left out")),
  };
  const task = redactor.redact(loadPrompt(VERIFY, words));
  const kept = before && (await restoreProfile(session.host, before, run));
  const profile = kept
    ? { ...kept, chain: [...kept.chain, ...session.base] }
    : await createProfile(session, { agent, parent: run });
  return host.runChild({
    session,
    parent: run,
    profile,
    runId: before?.run_id ?? host.createRunId(run, { callId: VERIFY_CALL, attempt: 0 }),
    attempt: 0,
    task,
    message: `${task}\n\n${askForForm(VERDICT)}`,
    tainted: result.tainted,
    callId: VERIFY_CALL,
    parentRowId: run.messageId,
    deliverables: [...agent.deliverables, { answer: VERDICT }],
    resume: before,
  });
}

function readVerdict({ success, data, error }: RunResult): { met: boolean | null; reason: string } {
  const { met, reason } = (data ?? {}) as { met?: unknown; reason?: unknown };
  if (!success || typeof reason !== "string" || typeof met !== "boolean")
    return {
      met: null,
      reason:
        typeof reason === "string"
          ? reason
          : `the reviewer gave no verdict${error ? `: ${error.message}` : ""}`,
    };
  return { met, reason };
}

/** A run whose criteria are not met has failed; one whose criteria nobody verified says so. */
function withVerdict(result: RunResult, criteria: CriteriaVerdict): RunResult {
  const { verdict, reason } = criteria;
  // What failed says so already; that nobody verified it adds nothing.
  if (verdict === "met" || (verdict === "not_verified" && !result.success)) return { ...result, criteria };
  if (verdict === "not_verified") {
    const warning = `Success criteria not verified: ${reason}`;
    return { ...result, criteria, warnings: [...result.warnings, warning] };
  }
  const message = `the success criteria are not met: ${reason}`;
  const told = { ...result, criteria, warnings: [...result.warnings, message] };
  if (result.status !== "completed") return told;
  return { ...told, status: "failed", success: false, error: { type: "failed", message, recoverable: true } };
}
