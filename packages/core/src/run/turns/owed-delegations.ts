import type { MandatoryDelegation } from "../../schema/agent.ts";
import type { Ending } from "../build-result.ts";
import { loopPrompt } from "../load-prompt.ts";
import type { LoopPorts } from "../ports.ts";
import type { Run } from "../run.ts";

/** Sends an answer back, once, that came without a delegation which the request makes mandatory. */
export function mustDelegate(run: Run, ports: LoopPorts): boolean {
  const owed = ports.owedDelegations(run);
  if (owed.length === 0 || run.sentBack) return false;
  run.sentBack = true;
  run.pushUser(loopPrompt("owed-delegation", inWords(owed)));
  return true;
}

/** A run that still ends without it says so in its result and to the person. */
export function tellOwed(run: Run, ending: Ending, ports: LoopPorts): void {
  const owed = ending.status === "completed" ? ports.owedDelegations(run) : [];
  if (owed.length === 0) return;
  const { sessionId, runId, agent } = run.spec;
  const { agents, words } = inWords(owed);
  const message = `COMPLIANCE WARNING: ${agent.name} answered without delegating to ${agents}, although ${words} in the request makes that mandatory.`;
  run.warnings.push(message);
  ports.emit(sessionId, { type: "compliance.failed", runId, agent: agent.name, message });
}

/** Which agents, and which words of the request demand them. */
export function inWords(owed: readonly MandatoryDelegation[]): { agents: string; words: string } {
  const listed = (texts: readonly string[]) => [...new Set(texts)].join(" and ");
  return {
    agents: listed(owed.map(({ agent }) => `\`${agent}\``)),
    words: listed(owed.map(({ word }) => `"${word}"`)),
  };
}
