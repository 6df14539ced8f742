import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";

/** Ends of a whole reply, in the words of every wire format; old Ollama servers leave the word empty. */
const WHOLE =
  /^(|stop|stop_sequence|end_turn|eos|eos_token|complete|completed|tool_calls?|tool_use|function_calls?)$/;
const CUT = /^(length|max_tokens|max_output_tokens|model_length|model_context_window_exceeded)$/;
const FILTERED =
  /^(refusal|content_?filter(ed)?)$|safety|recitation|blocklist|prohibited|spii|language|guardrail/;
const FAILED = /error|abort|cancel|insufficient/;

/**
 * What a server's word for the end of a reply means. Several servers say `stop` although they call tools; an end that is
 * not known to be a whole reply's is `other`, and calls of such a reply are not run.
 */
export function readFinishReason(raw: string | undefined, hasCalls: boolean): LanguageModelV4FinishReason {
  if (raw === undefined) return { unified: "other", raw };
  const word = raw.toLowerCase().replaceAll("-", "_");
  if (WHOLE.test(word)) return { unified: hasCalls ? "tool-calls" : "stop", raw };
  if (CUT.test(word)) return { unified: "length", raw };
  if (FILTERED.test(word)) return { unified: "content-filter", raw };
  return { unified: FAILED.test(word) ? "error" : "other", raw };
}

/** Whether a reply ended as a whole one does, so that its calls may run. */
export function endsWhole(finish: LanguageModelV4FinishReason["unified"]): boolean {
  return finish === "stop" || finish === "tool-calls";
}
