import type { TraceRun } from "../../../../../src/schema/inspect/trace.ts";
import { Segmented } from "../../../ui/controls/segmented.tsx";
import { REACHABLE } from "../../../ui/reachable.ts";
import { Failed, Loading } from "../../../ui/states.tsx";
import { Markdown } from "../../../ui/text/markdown.tsx";
import { useRunDetail } from "../../trace/pane/use-run-detail.ts";
import { Part } from "../part.tsx";
import { type Letter, SideLetter } from "../side-letter.tsx";
import type { RunPair } from "../tree/align-runs.ts";
import type { AnswerView, useCompareAddress } from "../use-compare-address.ts";
import { MarkedText } from "./marked-text.tsx";

const VIEWS: readonly { value: AnswerView; name: string }[] = [
  { value: "beside", name: "Side by side" },
  { value: "words", name: "Words" },
  { value: "lines", name: "Lines" },
];

/** What both sessions came to: the answers to one prompt, beside each other or as one marked text. */
export function Answers({
  pairs,
  address,
}: {
  /** Pairs of root runs, one for each prompt. */
  pairs: readonly RunPair[];
  address: ReturnType<typeof useCompareAddress>;
}) {
  const last = Math.max(
    0,
    pairs.findLastIndex(({ a, b }) => a !== null && b !== null),
  );
  const at = address.prompt === null ? last : Math.min(pairs.length, Math.max(1, address.prompt)) - 1;
  const pair = pairs[at];
  return (
    <Part
      title="Answers"
      aside={
        <>
          {pairs.length > 1 && (
            <select
              aria-label="To which prompt"
              value={at + 1}
              onChange={(event) => address.showPrompt(Number(event.target.value))}
              className="h-8 max-w-56 rounded-md border border-line-strong bg-panel px-2 text-sm text-ink-2 hover:bg-hover"
            >
              {pairs.map(({ id, a, b }, index) => (
                <option key={id} value={index + 1}>
                  {index + 1}: {((a ?? b)?.task ?? "").slice(0, 80)}
                </option>
              ))}
            </select>
          )}
          <Segmented
            label="Show answers"
            value={address.answerView}
            choices={VIEWS}
            onChange={address.showAnswers}
          />
        </>
      }
    >
      {pair?.a && pair.b && address.answerView !== "beside" ? (
        <MarkedAnswers
          key={`${pair.a.runId} ${pair.b.runId}`}
          a={pair.a}
          b={pair.b}
          by={address.answerView}
        />
      ) : (
        <div className="grid border-y border-line bg-panel md:grid-cols-2">
          <Answer letter="A" run={pair?.a ?? null} />
          <Answer letter="B" run={pair?.b ?? null} />
        </div>
      )}
    </Part>
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
  const { data, isError, error, refetch } = useRunDetail(run);
  if (isError) return <Failed failure={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading rows={3} label="Loading the answer" />;
  const text = answerOf(run, data);
  if (!text) return <p className="text-sm text-ink-3">It ended without an answer.</p>;
  return (
    <div {...REACHABLE} className="max-h-[70vh] overflow-auto">
      <Markdown text={text} />
    </div>
  );
}

function MarkedAnswers({ a, b, by }: { a: TraceRun; b: TraceRun; by: "words" | "lines" }) {
  const [one, other] = [useRunDetail(a), useRunDetail(b)];
  const failed = one.isError ? one : other.isError ? other : null;
  if (failed) return <Failed failure={failed.error} onRetry={() => void failed.refetch()} />;
  if (!one.data || !other.data) return <Loading rows={3} label="Loading the answers" />;
  if (a.endMs === null || b.endMs === null)
    return (
      <p className="border-y border-line bg-panel px-4 py-6 text-center text-sm text-ink-2">
        Both must have ended before what they said can be compared.
      </p>
    );
  const [textOfA, textOfB] = [answerOf(a, one.data), answerOf(b, other.data)];
  if (!textOfA && !textOfB)
    return (
      <p className="border-y border-line bg-panel px-4 py-6 text-center text-sm text-ink-2">
        Both ended without an answer.
      </p>
    );
  return <MarkedText a={textOfA} b={textOfB} by={by} />;
}

function answerOf(run: TraceRun, { text }: { text: string }): string {
  return text || (run.result?.summary ?? "");
}
