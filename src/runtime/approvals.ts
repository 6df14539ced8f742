import type { ApprovalAnswer, ApprovalRequest } from "../loop/ports.ts";
import { decide } from "../permissions/decide.ts";
import { parseRules } from "../permissions/rule.ts";
import type { Rule } from "../schema/rights.ts";

/** How asks are answered without a person, with the names Claude Code uses. */
export type PermissionMode = "default" | "acceptEdits" | "plan" | "bypassPermissions";

/** Asks a person. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** Tools that `acceptEdits` approves. */
const EDITS = new Set(["write", "edit"]);

/** What turns an `ask` into a yes or a no. It never sees a deny: nothing lifts one. */
export function createApprovals(options: {
  mode: PermissionMode;
  allowedTools: readonly string[];
  approver?: Approver | undefined;
}): Approver {
  const rules: readonly Rule[] = parseRules(options.allowedTools, "--allowed-tools");
  const answered = new Map<string, ApprovalAnswer>();
  return async (request, signal) => {
    if (options.mode === "plan" && request.risk !== "low") {
      return { allowed: false, by: "plan mode", note: "only reading is allowed while planning" };
    }
    const earlier = answered.get(`${request.runId} ${request.inputHash}`);
    if (earlier) return earlier;
    if (!request.tainted) {
      if (options.mode === "bypassPermissions")
        return { allowed: true, by: "permission mode bypassPermissions" };
      if (options.mode === "acceptEdits" && EDITS.has(request.tool))
        return { allowed: true, by: "permission mode acceptEdits" };
      const preapproved = decide([{ name: "--allowed-tools", allow: rules, ask: [], deny: [] }], {
        tool: request.tool,
        groups: request.groups,
        targets: request.targets,
      });
      if (preapproved.verdict === "allow")
        return { allowed: true, by: `--allowed-tools ${preapproved.rule ?? ""}`.trim() };
    }
    if (!options.approver) return { allowed: false, by: "nobody", note: "no person is there to ask" };
    const answer = await untilAborted(options.approver(request, signal), signal);
    if (answer.allowed && answer.scope === "run")
      answered.set(`${request.runId} ${request.inputHash}`, answer);
    return answer;
  };
}

function untilAborted(asking: Promise<ApprovalAnswer>, signal: AbortSignal): Promise<ApprovalAnswer> {
  return new Promise((resolve) => {
    const stop = () => resolve({ allowed: false, by: "the stop of the run" });
    signal.addEventListener("abort", stop, { once: true });
    asking
      .catch((thrown): ApprovalAnswer => ({ allowed: false, by: "the approver", note: String(thrown) }))
      .then(resolve)
      .finally(() => signal.removeEventListener("abort", stop));
  });
}
