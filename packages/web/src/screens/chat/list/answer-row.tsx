import { describeEnd, nameStatus } from "@retinue/core/show/standing";
import { useQueries } from "@tanstack/react-query";
import { CircleAlert, FileText } from "lucide-react";
import { withQuery } from "../../../data/client.ts";
import { runDetailQuery, useRunDetail } from "../../../data/queries.ts";
import { useSelected, useSignal, useThrottled } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { CopyButton } from "../../../ui/copy.tsx";
import { Cell } from "../../../ui/grid.tsx";
import { Markdown } from "../../../ui/rich-text/markdown.tsx";
import { Failed } from "../../../ui/states.tsx";
import { findLook, StatusIcon } from "../../../ui/status.tsx";
import { RunActivity, readLiveText } from "../card/run-activity.tsx";
import { FOR_GOOD, useRun } from "../card/use-run.ts";
import { useChatView } from "../chat-view.ts";

const EVERY_MS = 100;

/** What a root run has to say: while it works what it says now, in the end its answer. */
export function AnswerRow({ runId }: { runId: string }) {
  const run = useRun(runId);
  const isLive = run.endedAtMs === null;
  return (
    <Cell className="pt-1 pb-6">
      <h2 className="sr-only">Answer</h2>
      {isLive ? <LiveAnswer runId={runId} /> : <EndedAnswer runId={runId} />}
    </Cell>
  );
}

function LiveAnswer({ runId }: { runId: string }) {
  const store = useSession();
  const text = useThrottled(store.live(runId), readLiveText, EVERY_MS);
  const { lastSaid } = useChatView();
  if (text) lastSaid.set(runId, text);
  return (
    <div className="px-1">
      {text && <Markdown text={text} live className="text-base" />}
      <div className="mt-1 min-h-5">
        <RunActivity runId={runId} />
      </div>
    </div>
  );
}

function EndedAnswer({ runId }: { runId: string }) {
  const run = useRun(runId);
  const standing = nameStatus(run);
  const { data, error, refetch } = useRunDetail(run, FOR_GOOD);
  const held = useChatView().lastSaid.get(runId);
  const told = data?.text || held || run.summary || "";
  const text = told === run.status ? "" : told;
  const isLast = useSelected(useSession().roots, (roots) => roots.at(-1) === runId);
  const isGood = standing === "completed";
  return (
    <div className="grid gap-2 px-1">
      {!isGood && (
        <div className="flex items-start gap-2 rounded-lg border border-line bg-panel px-3 py-2 text-sm">
          <span className="mt-0.5">
            <StatusIcon standing={standing} />
          </span>
          <p className="min-w-0 wrap-anywhere">
            <strong className={`font-semibold ${findLook(standing).tone}`}>{describeEnd(run)}</strong>
            {run.error && run.error !== text && run.error !== run.status && (
              <span className="text-ink-2"> {run.error}</span>
            )}
            {isLast && <span className="text-ink-3"> Write below to continue from here.</span>}
          </p>
        </div>
      )}
      {text ? (
        <Markdown text={text} className="text-base" />
      ) : (
        isGood &&
        data && (
          <p className="flex items-center gap-1.5 text-sm text-ink-3">
            <CircleAlert aria-hidden className="size-3.5" /> It ended without an answer.
          </p>
        )
      )}
      {error && !data && <Failed failure={error} onRetry={() => void refetch()} />}
      <AnswerFiles runId={runId} />
      {text && (
        <div className="-ml-1.5">
          <CopyButton text={text} label="Copy the answer" />
        </div>
      )}
    </div>
  );
}

const MOST_LOOKED_AT = 8;
const MOST_SHOWN = 8;
/** Where runs put what is meant for the person. */
const PRODUCTS = "work_products/";

/** What a root run and those it delegated to have made for the person, to be opened. */
function AnswerFiles({ runId }: { runId: string }) {
  const store = useSession();
  const children = useSignal(store.children(runId));
  const files = useQueries({
    queries: [runId, ...children.slice(0, MOST_LOOKED_AT)].map((id) => ({
      ...runDetailQuery({ runId: id, closedSeq: store.run(id)?.value.closedSeq ?? null }),
      ...FOR_GOOD,
    })),
    combine: (details) =>
      details
        .flatMap(({ data }) => data?.files ?? [])
        .filter(({ path, root, exists }) => exists && root === "workspace" && path.startsWith(PRODUCTS))
        .map(({ path }) => path),
  });
  const paths = [...new Set(files)].slice(0, MOST_SHOWN);
  if (paths.length === 0) return null;
  return (
    <ul aria-label="Files" className="flex flex-wrap gap-1.5">
      {paths.map((path) => (
        <li key={path} className="min-w-0">
          <a
            href={withQuery(`/api/sessions/${store.sessionId}/files`, { path })}
            target="_blank"
            rel="noopener noreferrer"
            className="flex h-7 items-center gap-1.5 rounded-md border border-line bg-panel px-2 text-xs hover:bg-hover"
          >
            <FileText aria-hidden className="size-3.5 shrink-0 text-accent" />
            <span className="truncate">{path.slice(PRODUCTS.length)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
