import type { LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import { cutAt, excerpt } from "../../tools/truncate.ts";
import type { Run } from "../run.ts";

const MAX_GATHERED_CHARS = 20_000;
const MAX_ENTRY_CHARS = 4_000;

/** What a run has said and been answered so far: enough to stand in for a report that was never given. */
export type GatheredWork = { readonly texts: string; readonly results: string };

/** Collects a run's own words and the answers of its tools from its history, the latest first to be kept. */
export function gatherWork(run: Run): GatheredWork {
  const texts: string[] = [];
  const results: string[] = [];
  for (const message of run.history.slice(run.begunAt + 1)) {
    if (message.role === "system") continue;
    for (const part of message.content) {
      if (part.type === "text" && message.role === "assistant" && part.text.trim())
        texts.push(part.text.trim());
      // What the host says is no work, but for results of children and the summary of a condensed conversation.
      if (part.type === "text" && message.role === "user" && GATHERED.test(part.text))
        results.push(part.text);
      const answer = part.type === "tool-result" ? readAnswer(part.output) : "";
      if (part.type === "tool-result" && answer) results.push(`${part.toolName}:\n${answer}`);
    }
  }
  return { texts: latest(texts, MAX_GATHERED_CHARS / 2), results: latest(results, MAX_GATHERED_CHARS) };
}

const GATHERED = /^<(?:earlier_work|subagent_result)\b/;

/** An answer that holds something; a failed one does only if it is what a child left. */
function readAnswer(output: LanguageModelV4ToolResultOutput): string {
  if (output.type === "text") return output.value.trim();
  return output.type === "error-text" && GATHERED.test(output.value) ? output.value : "";
}

/** As many of the last entries as there is room for, in their order. */
function latest(entries: readonly string[], room: number): string {
  const kept: string[] = [];
  let left = room;
  for (const entry of entries.toReversed()) {
    const text = excerpt(entry, Math.min(MAX_ENTRY_CHARS, left), "see the trace");
    if (left < MAX_ENTRY_CHARS / 8) break;
    kept.unshift(text);
    left -= text.length;
  }
  const missing = entries.length - kept.length;
  return [...(missing > 0 ? [`(${missing} earlier ones are in the trace)`] : []), ...kept].join("\n\n");
}

/** What a run leaves that ends without a report: in a free loop all it has said, an answer that broke off included, and what tools answered. */
export function keepWork(run: Run, gathered = gatherWork(run)): string {
  return run.spec.flow.keepWork(run, gathered);
}

/** An answer made of what there is, for a run whose model gave no report of its own; empty if there is nothing. */
export function reportGathered({ texts, results }: GatheredWork, said: string): string {
  const own = said.trim() && !texts.endsWith(said.trim()) ? [texts, said.trim()] : [texts];
  const words = own.filter((text) => text !== "").join("\n\n");
  if (results === "") return words;
  const heading = "There was no last report. This is what the tools had answered:";
  return [words, heading, cutAt(results, MAX_GATHERED_CHARS + 1_000)]
    .filter((text) => text !== "")
    .join("\n\n");
}
