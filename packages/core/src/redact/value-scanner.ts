import type { KnownValues } from "./known-values.ts";
import { marker } from "./marker.ts";
import type { Scanner } from "./rule-scanner.ts";

/** The kind of secrets that are known by their value. */
export const KNOWN_KIND = "secret";

/** Creates a scanner of one text for values that are known; a beginning of one is held until it is decided. */
export function createValueScanner(values: KnownValues): Scanner {
  let held = "";
  return {
    push(chunk, isLast) {
      const text = held + chunk;
      const spans = values.find(text);
      const begun = isLast ? text.length : values.unfinishedFrom(text);
      const end = spans.find((span) => span.start < begun && begun < span.end)?.start ?? begun;
      const kept: string[] = [];
      let at = 0;
      for (const span of spans) {
        if (span.end > end) break;
        kept.push(text.slice(at, span.start), marker(KNOWN_KIND));
        at = span.end;
      }
      kept.push(text.slice(at, end));
      held = text.slice(end);
      return kept.join("");
    },
  };
}
