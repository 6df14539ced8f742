import { CornerDownRight } from "lucide-react";
import { useState } from "react";
import { Cell } from "../../../ui/grid.tsx";
import { useRun, useRunDetail } from "../card/use-run.ts";

const CUT_AT = 300;
const LONG = 1_200;

/** What the person asked for, whole. */
export function PersonRow({ runId }: { runId: string }) {
  const run = useRun(runId);
  const { data } = useRunDetail(runId, run.task.length >= CUT_AT, "asked");
  const [isWhole, setWhole] = useState(false);
  const text = data?.task ?? run.task;
  const isLong = text.length > LONG;
  return (
    <Cell className="flex justify-end pt-3 pb-3">
      <div className="max-w-[min(85%,44rem)] rounded-2xl rounded-br-md bg-accent-soft px-3.5 py-2">
        <h2 className="sr-only">You asked</h2>
        <p className="text-base wrap-anywhere whitespace-pre-wrap">
          {isLong && !isWhole ? `${text.slice(0, LONG)}…` : text}
        </p>
        {isLong && (
          <button
            type="button"
            className="mt-1 text-xs font-medium text-accent"
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? "Show less" : "Show all"}
          </button>
        )}
      </div>
    </Cell>
  );
}

/** What the person said to a run while it worked. */
export function SaidRow({ text }: { text: string }) {
  return (
    <Cell className="flex justify-end py-1">
      <p className="flex max-w-[85%] items-start gap-1.5 rounded-xl border border-line bg-panel px-3 py-1.5 text-sm">
        <CornerDownRight aria-hidden className="mt-1 size-3 shrink-0 text-ink-3" />
        <span className="wrap-anywhere whitespace-pre-wrap">
          <span className="sr-only">You said meanwhile: </span>
          {text}
        </span>
      </p>
    </Cell>
  );
}
