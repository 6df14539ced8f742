import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import { useMemo } from "react";
import { useRunDetail } from "../../data/queries.ts";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { Segmented, Select } from "../../ui/controls.tsx";
import { Markdown } from "../../ui/rich-text/markdown.tsx";
import { VisibleText } from "../../ui/rich-text/visible-text-block.tsx";
import { Failed, Loaded, Loading } from "../../ui/states.tsx";
import { useChoice, useParam } from "../../ui/use-address.ts";
import type { RunPair } from "./align-runs.ts";
import { diffTexts, linesOfParts, type TextPart } from "./diff-texts.ts";
import { ComparedPart, type Letter, PartNote, SideLetter } from "./side-heads.tsx";

/** How the two answers are shown: beside each other, or as one text in which words or lines are marked. */
const VIEWS = [
  { value: "beside", name: "Side by side" },
  { value: "words", name: "Words" },
  { value: "lines", name: "Lines" },
] as const;

/** What both sessions came to: the answers to one prompt, beside each other or as one marked text. A pair of root runs is a prompt. */
export function Answers({ pairs }: { pairs: readonly RunPair[] }) {
  const [view, setView] = useChoice("answers", VIEWS, "beside");
  const [prompt, setPrompt] = useParam("prompt");
  const last = Math.max(
    0,
    pairs.findLastIndex(({ a, b }) => a !== null && b !== null),
  );
  const at = Number(prompt) ? Math.min(pairs.length, Math.max(1, Number(prompt))) - 1 : last;
  const pair = pairs[at];
  return (
    <ComparedPart
      title="Answers"
      aside={
        <>
          {pairs.length > 1 && (
            <Select aria-label="To which prompt" value={at + 1} onChoose={setPrompt} className="max-w-56">
              {pairs.map(({ id, a, b }, index) => (
                <option key={id} value={index + 1}>
                  {index + 1}: {((a ?? b)?.task ?? "").slice(0, 80)}
                </option>
              ))}
            </Select>
          )}
          <Segmented label="Show answers" value={view} choices={VIEWS} onChange={setView} />
        </>
      }
    >
      {pair?.a && pair.b && view !== "beside" ? (
        <MarkedAnswers key={`${pair.a.runId} ${pair.b.runId}`} a={pair.a} b={pair.b} by={view} />
      ) : (
        <div className="grid border-y border-line bg-panel md:grid-cols-2">
          <Answer letter="A" run={pair?.a ?? null} />
          <Answer letter="B" run={pair?.b ?? null} />
        </div>
      )}
    </ComparedPart>
  );
}

function Answer({ letter, run }: { letter: Letter; run: TraceRun | null }) {
  return (
    <section
      aria-label={`Answer of ${letter}`}
      className="min-w-0 px-4 py-3 max-md:not-first:border-t md:not-first:border-l"
    >
      <div className="mb-2 flex items-center gap-2 text-xs text-ink-3">
        <SideLetter letter={letter} />
        {run?.endMs === null && "It has not ended yet."}
        {run === null && "This session has no such prompt."}
      </div>
      {run && run.endMs !== null && <Ended key={run.runId} run={run} />}
    </section>
  );
}

function Ended({ run }: { run: TraceRun }) {
  return (
    <Loaded query={useRunDetail(run)} rows={3} label="Loading the answer">
      {(detail) => {
        const text = readAnswer(run, detail);
        if (!text) return <p className="text-sm text-ink-3">It ended without an answer.</p>;
        return (
          <div {...REACHABLE} className="max-h-[70vh] overflow-auto">
            <Markdown text={text} />
          </div>
        );
      }}
    </Loaded>
  );
}

function MarkedAnswers({ a, b, by }: { a: TraceRun; b: TraceRun; by: "words" | "lines" }) {
  const [one, other] = [useRunDetail(a), useRunDetail(b)];
  const failed = one.isError ? one : other.isError ? other : null;
  if (failed) return <Failed failure={failed.error} onRetry={() => void failed.refetch()} />;
  if (!one.data || !other.data) return <Loading rows={3} label="Loading the answers" />;
  if (a.endMs === null || b.endMs === null)
    return <PartNote>Both must have ended before what they said can be compared.</PartNote>;
  const [textOfA, textOfB] = [readAnswer(a, one.data), readAnswer(b, other.data)];
  if (!textOfA && !textOfB) return <PartNote>Both ended without an answer.</PartNote>;
  return <MarkedText a={textOfA} b={textOfB} by={by} />;
}

function readAnswer(run: TraceRun, { text }: { text: string }): string {
  return text || (run.result?.summary ?? "");
}

const MOST_PARTS = 4_000;
/** In running text. Lines have the letter of their side beside them instead, and are read more easily without strokes. */
const STROKES = { A: "line-through decoration-ink-3", B: "underline decoration-accent underline-offset-2" };
const GROUNDS = { both: "", A: "bg-off-soft text-ink", B: "bg-accent-soft text-ink" };

/** Two answers as one text in which is marked what only one of them has, in more ways than by colour. */
function MarkedText({ a, b, by }: { a: string; b: string; by: "words" | "lines" }) {
  const parts = useMemo(() => diffTexts(a, b, by), [a, b, by]);
  if (a === b) return <PartNote>Both answers are the same, letter by letter.</PartNote>;
  if (!parts) return <PartNote>They have almost nothing in common. Compare them side by side.</PartNote>;
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
