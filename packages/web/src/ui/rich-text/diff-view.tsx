import { showNumber } from "@retinue/core/show/measures";
import { join, REACHABLE } from "../class-names.ts";

const LOOKS: Readonly<Record<string, string>> = {
  "+": "bg-ok-soft text-ok",
  "-": "bg-bad-soft text-bad",
  "@": "text-accent bg-accent-soft",
};
const MOST_LINES = 4_000;

type DiffViewProps = { patch: string; label?: string; most?: number };

/** A unified diff; the signs stay, so that colour is not all there is. Of more lines than `most` the rest is only counted. */
export function DiffView({ patch, label = "Changes", most = MOST_LINES }: DiffViewProps) {
  const lines = patch.replace(/\n$/, "").split("\n");
  const shown = lines.slice(0, most);
  return (
    <figure
      aria-label={label}
      {...REACHABLE}
      className="overflow-auto rounded-md border border-line bg-panel"
    >
      <pre className="min-w-max py-1 font-mono text-xs leading-5">
        {shown.map((line, index) => (
          <div
            // Lines of one patch never move.
            key={`${index.toString()}`}
            className={join("px-3", LOOKS[line[0] ?? ""] ?? "text-ink-2")}
          >
            {line || " "}
          </div>
        ))}
        {lines.length > most && (
          <div className="px-3 text-ink-3">… {showNumber(lines.length - most)} more lines</div>
        )}
      </pre>
    </figure>
  );
}
