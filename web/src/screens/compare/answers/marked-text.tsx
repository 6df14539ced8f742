import { useMemo } from "react";
import { VisibleText } from "../../../ui/approval/visible-text-block.tsx";
import { join } from "../../../ui/join.ts";
import { REACHABLE } from "../../../ui/reachable.ts";
import { diffTexts, linesOfParts, type TextPart } from "./diff-texts.ts";

const MOST_PARTS = 4_000;
/** In running text. Lines have the letter of their side beside them instead, and are read more easily without strokes. */
const STROKES = { A: "line-through decoration-ink-3", B: "underline decoration-accent underline-offset-2" };
const GROUNDS = { both: "", A: "bg-off-soft text-ink", B: "bg-accent-soft text-ink" };

/** Two answers as one text in which is marked what only one of them has, in more ways than by colour. */
export function MarkedText({ a, b, by }: { a: string; b: string; by: "words" | "lines" }) {
  const parts = useMemo(() => diffTexts(a, b, by), [a, b, by]);
  if (a === b) return <Note>Both answers are the same, letter by letter.</Note>;
  if (!parts) return <Note>The two have next to nothing in common. Look at them side by side.</Note>;
  return (
    <div className="border-y border-line bg-panel px-4 py-3">
      {by === "words" && (
        <p className="mb-2 text-xs text-ink-3">
          <del className={join("rounded px-1", GROUNDS.A, STROKES.A)}>Struck through</del> is only in A,{" "}
          <ins className={join("rounded px-1", GROUNDS.B, STROKES.B)}>underlined</ins> only in B.
        </p>
      )}
      <figure
        aria-label="Both answers in one text"
        {...REACHABLE}
        className="max-h-[70vh] overflow-auto text-sm"
      >
        {by === "words" ? <Words parts={parts} /> : <Lines parts={parts} />}
      </figure>
    </div>
  );
}

function Words({ parts }: { parts: readonly TextPart[] }) {
  return (
    <p className="whitespace-pre-wrap wrap-anywhere">
      {parts.slice(0, MOST_PARTS).map((part, index) => (
        // Parts of two texts never move.
        <Marked key={index.toString()} part={part} />
      ))}
      {parts.length > MOST_PARTS && <span className="text-ink-3"> … the rest is not shown</span>}
    </p>
  );
}

function Lines({ parts }: { parts: readonly TextPart[] }) {
  const lines = linesOfParts(parts);
  return (
    <div>
      {lines.slice(0, MOST_PARTS).map((line, index) => (
        <div
          // Lines of two texts never move.
          key={index.toString()}
          className={join("flex min-h-5 gap-2 px-1", GROUNDS[line.of])}
        >
          <span aria-hidden className="w-3 shrink-0 font-mono text-xs leading-5 text-ink-2 select-none">
            {line.of === "both" ? "" : line.of}
          </span>
          <span className="min-w-0 whitespace-pre-wrap wrap-anywhere">
            <Marked part={line} isLine />
          </span>
        </div>
      ))}
      {lines.length > MOST_PARTS && <p className="text-ink-3">… the rest is not shown</p>}
    </div>
  );
}

function Marked({ part: { text, of }, isLine = false }: { part: TextPart; isLine?: boolean }) {
  const shown = <VisibleText text={text} />;
  if (of === "both") return shown;
  const look = isLine ? "no-underline" : join(GROUNDS[of], STROKES[of]);
  return of === "A" ? <del className={look}>{shown}</del> : <ins className={look}>{shown}</ins>;
}

function Note({ children }: { children: string }) {
  return <p className="border-y border-line bg-panel px-4 py-6 text-center text-sm text-ink-2">{children}</p>;
}
