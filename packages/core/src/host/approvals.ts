import { untilAborted } from "../budget/until-aborted.ts";
import { decide } from "../rights/decide.ts";
import { readCommand } from "../rights/patterns/split-command.ts";
import { parseRules } from "../rights/rule.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../run/ports.ts";
import { messageOf } from "../schema/error.ts";
import type { PermissionMode, Rule } from "../schema/rights.ts";

/**
 * Asks a person. The signal fires when the run is stopped, and with the reason `AnsweredElsewhere` when somebody else has
 * answered; what comes after that is not heard.
 */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>;

/** What a call is told whose run was stopped while it waited. */
export const STOPPED: ApprovalAnswer = { allowed: false, by: "the stop of the run" };

/** Tools that `acceptEdits` approves. */
const EDITS = new Set(["write", "edit", "merge_changes"]);

/** What turns an `ask` into a yes or a no. It never sees a deny: nothing lifts one. */
export function createApprovals(options: {
  mode: PermissionMode;
  allowedTools: readonly string[];
  approver?: Approver | undefined;
  /** What somebody said before that holds for this call, too, perhaps in another process. */
  answered?: (request: ApprovalRequest) => Promise<ApprovalAnswer | null>;
}): Approver {
  const rules: readonly Rule[] = parseRules(options.allowedTools, "--allowed-tools");
  return async (request, signal) => {
    if (!request.tainted) {
      if (options.mode === "bypassPermissions")
        return { allowed: true, by: "permission mode bypassPermissions" };
      if (options.mode === "acceptEdits" && EDITS.has(request.tool))
        return { allowed: true, by: "permission mode acceptEdits" };
    }
    const preapproved = decide([{ name: "--allowed-tools", allow: rules, ask: [], deny: [] }], {
      tool: request.tool,
      groups: request.groups,
      targets: request.targets,
    });
    const isConfirmed = preapproved.consented || preapproved.namesCommand === true;
    const isEnough = (preapproved.consented || !request.tainted) && (isConfirmed || !request.mustConfirm);
    if (preapproved.verdict === "allow" && isEnough)
      return { allowed: true, by: `--allowed-tools ${preapproved.rule ?? ""}`.trim() };
    const kept = await options.answered?.(request);
    if (kept) return kept;
    if (!options.approver) return { allowed: false, by: "nobody", note: howToAllow(request) };
    const asking = options
      .approver(request, signal)
      .catch((thrown): ApprovalAnswer => ({ allowed: false, by: "the approver", note: messageOf(thrown) }));
    return untilAborted(asking, signal).catch(() => STOPPED);
  };
}

const MAX_NAMED = 5;

/** How a person can allow such a call beforehand. */
function howToAllow({ tool, targets, tainted, mustConfirm }: ApprovalRequest): string {
  const reached = targets.flatMap((target) =>
    target.kind === "recipient" ? [target.address] : target.kind === "host" ? [target.host] : [],
  );
  const isByName = tainted || mustConfirm;
  // The hint is for a shell: an address may hold quotes, bars and stars.
  const isNamed = isByName && reached.length > 0 && reached.every((address) => /^[#@\w.+-]+$/.test(address));
  if (isNamed && reached.length > MAX_NAMED) return `a rule on the recipients of '${tool}' would allow it`;
  const command = targets.find((target) => target.kind === "command");
  if (mustConfirm && command && !tainted)
    return `allow it at a terminal, or with rules that name each of its commands${exampleFor(tool, command.command)}`;
  const rules = isNamed ? reached.map((address) => `${tool}(${address})`) : [tool];
  if (isByName && !isNamed) return "only a person can allow it, at a terminal";
  return `allow it at a terminal, or with ${rules.map((rule) => `--allowed-tools '${rule}'`).join(" ")}`;
}

/** Rules that name the programs of a command, where each can stand in a shell and in a rule as it is. */
function exampleFor(tool: string, command: string): string {
  const { parts, opaque } = readCommand(command);
  const programs = [...new Set(parts.map(({ text }) => text.split(" ")[0] ?? ""))];
  const isPlain = programs.every((program) => /^[\w./-]+$/.test(program));
  if (opaque || !isPlain || programs.length === 0 || programs.length > MAX_NAMED) return "";
  return `: ${programs.map((program) => `--allowed-tools '${tool}(${program} *)'`).join(" ")}`;
}

/** Why an approver's signal fires although its run continues: somebody else has answered. */
export class AnsweredElsewhere extends Error {
  readonly answer: ApprovalAnswer;

  constructor(answer: ApprovalAnswer) {
    super(`${answer.allowed ? "allowed" : "denied"} by ${answer.by}`);
    this.name = "AnsweredElsewhere";
    this.answer = answer;
  }
}
