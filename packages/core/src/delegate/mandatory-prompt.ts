import { loadPrompt } from "../run/load-prompt.ts";
import { inWords } from "../run/turns/owed-delegations.ts";
import type { MandatoryDelegation } from "../schema/agent.ts";

/** What the system prompt says of delegations that the request demands. */
export function mandatoryPrompt(mandatory: readonly MandatoryDelegation[]): string {
  return loadPrompt(new URL("./prompts/mandatory-delegation.md", import.meta.url), inWords(mandatory));
}
