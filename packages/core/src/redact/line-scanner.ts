import { MARKER_START, marker } from "./marker.ts";
import type { Scanner } from "./rule-scanner.ts";

/** A kind of secret of the user's own; it is looked for within single lines. */
export type SecretPattern = { kind: string; pattern: RegExp };

/** Creates a scanner of one text for patterns of the user's own, which holds each line until it is complete. */
export function createLineScanner(patterns: readonly SecretPattern[]): Scanner {
  const ready = patterns.map(({ kind, pattern }) => ({
    mark: marker(kind),
    pattern: new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, "").concat("g")),
  }));
  let held = "";
  return {
    push(chunk, isLast) {
      const text = held + chunk;
      const end = isLast ? text.length : text.lastIndexOf("\n") + 1;
      held = text.slice(end);
      return text.slice(0, end).split("\n").map(redactLine).join("\n");
    },
  };

  function redactLine(line: string): string {
    return ready.reduce(
      (rest, { pattern, mark }) => betweenMarkers(rest, (part) => part.replaceAll(pattern, () => mark)),
      line,
    );
  }
}

function betweenMarkers(line: string, change: (part: string) => string): string {
  if (!line.includes(MARKER_START)) return change(line);
  return line
    .split(/(\[redacted:[^\]\s]*\])/)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("");
}
