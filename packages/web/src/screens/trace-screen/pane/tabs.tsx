import type { RunDetail, RunDiff } from "@retinue/core/schema/api/inspect";
import type { TraceRun } from "@retinue/core/schema/inspect/trace";
import type { RunResult } from "@retinue/core/schema/result";
import { showNumber } from "@retinue/core/show/measures";
import { describeContext } from "@retinue/core/show/standing";
import {
  CircleCheck,
  CircleX,
  ExternalLink,
  FileText,
  Frame,
  Lightbulb,
  type LucideIcon,
  TriangleAlert,
} from "lucide-react";
import { Fragment, useMemo, useState } from "react";
import { withQuery } from "../../../data/client.ts";
import { useFetched } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { join } from "../../../ui/class-names.ts";
import { Button } from "../../../ui/controls.tsx";
import { CopyButton } from "../../../ui/copy.tsx";
import { DiffView } from "../../../ui/rich-text/diff-view.tsx";
import { Markdown } from "../../../ui/rich-text/markdown.tsx";
import { TextBlock } from "../../../ui/rich-text/visible-text-block.tsx";
import { fitsRights, RightsTable } from "../../../ui/rights-table.tsx";
import { Loaded } from "../../../ui/states.tsx";
import { useIsPast } from "../playhead/playhead-scope.tsx";
import { openedRow } from "../playhead/run-at.ts";
import { Nothing, PaneSection, type TabProps } from "./section.tsx";

/** What the run was given: its task, what came with it, and the agent's own instructions. */
export function PromptTab({ detail: { task, message, systemPrompt, contextMode } }: TabProps) {
  const given = describeContext(contextMode);
  const isMore = message.trim() !== task.trim();
  return (
    <>
      <PaneSection title="Task" aside={<CopyButton text={task} label="Copy the task" />}>
        <TextBlock label="Task" text={task} />
      </PaneSection>
      <PaneSection
        title={given ? `Given to it: ${given}` : "Given to it"}
        aside={isMore && <CopyButton text={message} label="Copy what it was given" />}
      >
        {isMore ? (
          <TextBlock label="The first message of the run" text={message} tall />
        ) : (
          <Nothing>Nothing but the task.</Nothing>
        )}
      </PaneSection>
      {systemPrompt === null ? (
        <PaneSection title="System prompt">
          <Nothing>It is not in the record.</Nothing>
        </PaneSection>
      ) : (
        <details className="group">
          <summary className="cursor-pointer rounded text-xs font-semibold text-ink-2 hover:text-ink">
            System prompt
            <span className="figures ml-2 font-normal text-ink-3">
              {showNumber(systemPrompt.length)} characters
            </span>
          </summary>
          <div className="mt-1.5">
            <TextBlock label="System prompt" text={systemPrompt} tall />
          </div>
        </details>
      )}
    </>
  );
}

/** What the run came to: its text, the verdicts on what it had to leave behind, warnings and data. */
export function ResultTab({ run, detail }: TabProps) {
  const { result, text } = detail;
  const data = JSON.stringify(result?.data ?? run.result?.data, null, 2);
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
        <PaneSection title="Data" aside={<CopyButton text={data} label="Copy the data" />}>
          <TextBlock label="Data" text={data} tall />
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
        {deliverables.map(({ deliverable, ok, reason }) => {
          const [Icon, tone] = ok ? [CircleCheck, "text-ok"] : [CircleX, "text-bad"];
          return (
            <li key={deliverable} className="flex gap-2 rounded-md border border-line px-2.5 py-1.5 text-sm">
              <Icon aria-hidden className={join("mt-0.5 size-4 shrink-0", tone)} />
              <div className="min-w-0">
                <p className="font-medium wrap-anywhere">
                  {deliverable} <span className={tone}>{ok ? "is there" : "is missing"}</span>
                </p>
                {reason && <p className="text-xs wrap-anywhere text-ink-2">{reason}</p>}
              </div>
            </li>
          );
        })}
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

type LinesProps = { title: string; lines: readonly string[]; icon: LucideIcon; tone: string };

function Lines({ title, lines, icon: Icon, tone }: LinesProps) {
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

/** The run's row of the record. */
export function RawTab({ run, detail: { row } }: TabProps) {
  const isReplayed = useIsPast();
  const text = JSON.stringify(isReplayed && run.endMs === null ? openedRow(row) : row, null, 2);
  return (
    <PaneSection title="Row of the record" aside={<CopyButton text={text} label="Copy the row" />}>
      <TextBlock label="Row of the record" text={text} tall />
    </PaneSection>
  );
}

/** What the run was allowed to do when it began: each tool, the verdict, and the layer and rule that decided. */
export function RunRightsTab({ detail: { rights, delegatesTo } }: TabProps) {
  const [filter, setFilter] = useState("");
  const shown = useMemo(() => (rights ?? []).filter((row) => fitsRights(row, filter)), [rights, filter]);
  if (rights === null) return <Nothing>The rights of this run are not in the record.</Nothing>;
  return (
    <>
      <PaneSection title={`May use (${rights.length})`}>
        <input
          type="search"
          aria-label="Filter tools"
          placeholder="Filter by tool, layer or rule"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
          className="h-8 rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-ink-3"
        />
        <RightsTable rows={shown} />
      </PaneSection>
      <PaneSection title="May delegate to">
        {delegatesTo.length === 0 ? (
          <Nothing>No other agent.</Nothing>
        ) : (
          <p className="text-sm wrap-anywhere">{delegatesTo.join(", ")}</p>
        )}
      </PaneSection>
    </>
  );
}

type RunFile = RunDetail["files"][number];

/** Files that the run left behind, and what it and everything below it changed. */
export function FilesTab({ run, detail: { files } }: TabProps) {
  const { runId, closedSeq } = run;
  const query = useFetched<RunDiff>(["run", runId, closedSeq, "diff"], `/api/runs/${runId}/diff`);
  const isReplayed = useIsPast();
  // The record names files when a run ends; what was changed is known only as it is now.
  if (isReplayed && run.endMs === null) return <Nothing>It had not ended at this moment.</Nothing>;
  return (
    <>
      <PaneSection title="Files it made">
        {files.length === 0 ? (
          <Nothing>This run made no files.</Nothing>
        ) : (
          <ul className="grid gap-1">
            {productsFirst(files).map((file) => (
              <FileItem key={`${file.root} ${file.path}`} file={file} />
            ))}
          </ul>
        )}
      </PaneSection>
      <PaneSection title="Changes, with everything below it">
        <Loaded query={query} rows={3} label="Loading changes">
          {(diff) => <Changes diff={diff} />}
        </Loaded>
      </PaneSection>
    </>
  );
}

/** What was made for the person comes before what was needed on the way. */
function productsFirst(files: readonly RunFile[]): RunFile[] {
  const rank = ({ path }: RunFile) => (path.startsWith("work_products/") ? 0 : 1);
  return files.toSorted((one, other) => rank(one) - rank(other));
}

function FileItem({ file: { path, root, exists } }: { file: RunFile }) {
  const { sessionId } = useSession();
  const [isShown, setShown] = useState(false);
  const href = withQuery(`/api/sessions/${sessionId}/files`, { path });
  const isPage = /\.html?$/i.test(path);
  const canOpen = exists && root === "workspace";
  return (
    <li className="rounded-md border border-line">
      <div className="flex min-h-9 items-center gap-2 px-2.5 text-sm">
        <FileText aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        <span className="min-w-0 flex-1 py-1 font-mono text-xs wrap-anywhere">{path}</span>
        <span className="shrink-0 text-2xs text-ink-3">{exists ? root : "no longer there"}</span>
        {canOpen && isPage && (
          <Button small aria-expanded={isShown} onClick={() => setShown(!isShown)}>
            <Frame aria-hidden className="size-3" /> {isShown ? "Hide" : "Show"}
            <span className="sr-only"> {path}</span>
          </Button>
        )}
        {canOpen && !isPage && (
          <a
            href={href}
            target="_blank"
            rel="noopener noreferrer"
            className="inline-flex h-6 items-center gap-1 rounded-md px-1.5 text-xs font-medium text-accent hover:bg-hover"
          >
            <ExternalLink aria-hidden className="size-3" /> Open<span className="sr-only"> {path}</span>
          </a>
        )}
      </div>
      {isShown && (
        <iframe
          title={path}
          src={href}
          sandbox=""
          className="h-[60vh] w-full rounded-b-md border-t border-line bg-white"
        />
      )}
    </li>
  );
}

function Changes({ diff: { folders, unkept } }: { diff: RunDiff }) {
  const changed = folders.filter(({ files }) => files.length > 0);
  if (changed.length === 0 && unkept.length === 0) return <Nothing>Nothing was changed.</Nothing>;
  return (
    <div className="grid gap-3">
      {changed.map(({ root, isProject, files }) => (
        <div key={root} className="grid gap-1">
          <p className="text-2xs wrap-anywhere text-ink-3">{isProject ? "In the project" : root}</p>
          {files.map((file) => (
            <details key={file.path} open={files.length === 1} className="min-w-0">
              <summary className="flex cursor-pointer items-center gap-2 rounded-md border border-line px-2.5 py-1.5 text-xs hover:bg-hover">
                <span className="min-w-0 flex-1 font-mono wrap-anywhere">{file.path}</span>
                <span className="text-ink-3">{file.kind}</span>
                {file.added !== null && <span className="figures text-ok">+{file.added}</span>}
                {file.removed !== null && <span className="figures text-bad">−{file.removed}</span>}
              </summary>
              <div className="mt-1">
                {file.patch ? (
                  <DiffView patch={file.patch} label={`Changes of ${file.path}`} />
                ) : (
                  <Nothing>Not text, or nothing that could be shown.</Nothing>
                )}
              </div>
            </details>
          ))}
        </div>
      ))}
      {unkept.length > 0 && (
        <p className="text-xs wrap-anywhere text-warn">Earlier contents were not kept: {unkept.join(", ")}</p>
      )}
    </div>
  );
}
