import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import type { RunResult } from "@retinue/core/schema/result";
import { CircleCheck, CircleX, Lightbulb, TriangleAlert } from "lucide-react";
import { Fragment } from "react";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { join } from "../../../ui/class-names.ts";
import { CopyButton } from "../../../ui/copy.tsx";
import { Markdown } from "../../../ui/text/markdown.tsx";
import { useIsPast } from "../playhead/playhead-scope.tsx";
import { openedRow } from "../playhead/run-at.ts";
import { Nothing, PaneSection, type TabProps, TextBlock } from "./section.tsx";

/** What the run came to: its text, the verdicts on what it had to leave behind, warnings and data. */
export function ResultTab({ run, detail }: TabProps) {
  const { result, text } = detail;
  const data = result?.data ?? run.result?.data;
  const said = text || run.result?.text || run.result?.summary || "";
  // Why it failed stands above already.
  const answer = said === run.error ? "" : said;
  if (run.endMs === null) return <LiveText runId={run.runId} />;
  return (
    <>
      <PaneSection title="Answer" aside={answer && <CopyButton text={answer} label="Copy the answer" />}>
        {answer ? <Markdown text={answer} /> : <Nothing>It ended without an answer.</Nothing>}
      </PaneSection>
      <Deliverables run={run} />
      {result && <Work result={result} />}
      <Lines title="Warnings" lines={run.warnings} icon={TriangleAlert} tone="text-warn" />
      <Lines title="Suggestions" lines={result?.suggestions ?? []} icon={Lightbulb} tone="text-accent" />
      {data !== undefined && (
        <PaneSection title="Data" aside={<CopyButton text={pretty(data)} label="Copy the data" />}>
          <TextBlock label="Data" text={pretty(data)} tall />
        </PaneSection>
      )}
    </>
  );
}

function LiveText({ runId }: { runId: string }) {
  const live = useSignal(useSession().live(runId));
  const isReplayed = useIsPast();
  if (isReplayed)
    return (
      <PaneSection title="Answer">
        <Nothing>It had not ended at this moment.</Nothing>
      </PaneSection>
    );
  return (
    <PaneSection title="So far">
      {live?.text ? <Markdown text={live.text} live /> : <Nothing>It has not ended yet.</Nothing>}
    </PaneSection>
  );
}

function Deliverables({ run: { deliverables } }: { run: TraceRun }) {
  if (deliverables.length === 0) return null;
  return (
    <PaneSection title="Deliverables">
      <ul className="grid gap-1">
        {deliverables.map(({ deliverable, ok, reason }) => (
          <li key={deliverable} className="flex gap-2 rounded-md border border-line px-2.5 py-1.5 text-sm">
            {ok ? (
              <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
            ) : (
              <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
            )}
            <div className="min-w-0">
              <p className="font-medium wrap-anywhere">
                {deliverable}{" "}
                <span className={ok ? "text-ok" : "text-bad"}>{ok ? "is there" : "is missing"}</span>
              </p>
              {reason && <p className="text-xs wrap-anywhere text-ink-2">{reason}</p>}
            </div>
          </li>
        ))}
      </ul>
    </PaneSection>
  );
}

/** What the run did itself and with all below it, and how its success criteria were judged. */
function Work({ result: { subtree, criteria, ...own } }: { result: RunResult }) {
  if (!subtree) return null;
  const rows = [
    ["Files created", own.files_created.length, subtree.files_created.length],
    ["Files modified", own.files_modified.length, subtree.files_modified.length],
    ["Files deleted", own.files_deleted.length, subtree.files_deleted.length],
    ["Tests run", own.tests_run ?? "–", subtree.tests_run ?? "–"],
    ["Tests passed", own.tests_passed ?? "–", subtree.tests_passed ?? "–"],
    ["Tool calls", own.tool_calls_used, subtree.tool_calls_used],
  ] as const;
  return (
    <PaneSection title="Work">
      <dl className="figures grid grid-cols-[auto_1fr] gap-x-4 gap-y-0.5 text-sm">
        {rows.map(([name, alone, all]) => (
          <Fragment key={name}>
            <dt className="text-ink-2">{name}</dt>
            <dd>
              {alone}
              {subtree.runs > 1 && <span className="text-ink-3"> ({all} with all below)</span>}
            </dd>
          </Fragment>
        ))}
        {criteria && (
          <>
            <dt className="text-ink-2">Success criteria</dt>
            <dd className="wrap-anywhere">
              {criteria.verdict.replace("_", " ")}: {criteria.reason}
            </dd>
          </>
        )}
      </dl>
    </PaneSection>
  );
}

function Lines({
  title,
  lines,
  icon: Icon,
  tone,
}: {
  title: string;
  lines: readonly string[];
  icon: typeof Lightbulb;
  tone: string;
}) {
  if (lines.length === 0) return null;
  return (
    <PaneSection title={title}>
      <ul className="grid gap-1">
        {lines.map((line) => (
          <li key={line} className="flex gap-2 text-sm wrap-anywhere">
            <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", tone)} /> {line}
          </li>
        ))}
      </ul>
    </PaneSection>
  );
}

/** JSON as people read it. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? String(value);
}

/** The run's row of the record. */
export function RawTab({ run, detail: { row } }: TabProps) {
  const isReplayed = useIsPast();
  const text = pretty(isReplayed && run.endMs === null ? openedRow(row) : row);
  return (
    <PaneSection title="Row of the record" aside={<CopyButton text={text} label="Copy the row" />}>
      <TextBlock label="Row of the record" text={text} tall />
    </PaneSection>
  );
}
