import type { CallableModel } from "../../loop/model/callable-model.ts";
import { createOfflineModel, OFFLINE_ID } from "../../models/offline/create-offline-model.ts";
import { OFFLINE_LABEL } from "../../models/offline/offline-words.ts";
import type { Procedure } from "../../models/offline/procedure.ts";
import { assistantProcedures } from "../../packs/assistant/offline/assistant-procedures.ts";
import { codeProcedures } from "../../packs/code/offline/code-procedures.ts";
import { researchProcedures } from "../../packs/research/offline/research-procedures.ts";
import type { Agent } from "../../schema/agent.ts";
import { extractSummary } from "../../text/extract-summary.ts";
import { splitSentences } from "../../text/split-sentences.ts";

const SUMMARY_SENTENCES = 12;
const FREE = { input: 0, output: 0 };

/** The offline model as one agent's own. It costs nothing, and that is known. */
export function offlineModel(agent: Agent, procedures: readonly Procedure[]): CallableModel {
  const all = [...procedures, ...researchProcedures, ...assistantProcedures, ...codeProcedures];
  const model = createOfflineModel({ agent, procedures: all, summarise });
  return {
    id: OFFLINE_ID,
    provider: "offline",
    model,
    stream: model.stream,
    price: FREE,
    unmetered: true,
    label: OFFLINE_LABEL,
  };
}

/** The lines and sentences that say most, as they stand. */
function summarise(text: string): string {
  const sentences = text.split("\n").flatMap(splitSentences);
  return extractSummary(sentences, { count: SUMMARY_SENTENCES, about: sentences[0] ?? "" }).join("\n");
}
