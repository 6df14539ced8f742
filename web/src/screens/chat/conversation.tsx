import { useEffect, useMemo, useRef } from "react";
import { Link, useLocation } from "wouter";
import { useApprovals } from "../../api/queries.ts";
import type { SessionStore } from "../../live/session-store.ts";
import { useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { Announcer } from "./announcer.tsx";
import { type ChatView, ChatViewScope, viewOf } from "./chat-view.ts";
import { SessionComposer } from "./compose/session-composer.tsx";
import { isFailed } from "./rows/flatten-session.ts";
import type { Row } from "./rows/row.ts";
import { RowList } from "./rows/row-list.tsx";
import type { RowCursor } from "./rows/use-row-cursor.ts";
import { SessionHead } from "./session-head.tsx";
import { StopDialog } from "./stop-dialog.tsx";
import { askToStop } from "./stop-run.ts";

/** One session as a conversation with everything that happens in it. */
export function Conversation() {
  const store = useSession();
  const loading = useSignal(store.loading);
  const view = useMemo(() => viewOf(store.sessionId), [store]);
  if (loading.state === "failed")
    return (
      <>
        <ScreenHead title="Chat" />
        <Failed failure={loading.failure} onRetry={() => store.again()}>
          <Link href="/runs" className="text-accent underline underline-offset-2">
            All runs
          </Link>
        </Failed>
      </>
    );
  if (loading.state === "loading")
    return (
      <>
        <ScreenHead title="Chat" />
        <Loading label="Loading the session" />
      </>
    );
  return (
    <ChatViewScope value={view}>
      <Live store={store} view={view} />
    </ChatViewScope>
  );
}

function Live({ store, view }: { store: SessionStore; view: ChatView }) {
  const [, go] = useLocation();
  const cursor = useRef<RowCursor | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useAsks(store, view);
  const open = (row: Row) => {
    if (row.kind === "run") go(`/trace/${store.sessionId}?run=${row.runId}`);
    if (row.kind === "group") view.open(row.key, !row.isOpen);
    if (row.kind === "approval") go(`/approvals/${row.approvalId}`);
  };
  const stop = () => {
    const row = cursor.current?.current();
    const isLive = row?.kind === "run" && store.run(row.runId)?.value.endedAtMs === null;
    if (isLive && store.session.value?.holder) askToStop(row.runId, store, view);
  };
  useShortcuts([
    { keys: "j", does: "Next card", act: () => cursor.current?.move(1) },
    { keys: "k", does: "Previous card", act: () => cursor.current?.move(-1) },
    { keys: "l", does: "Open the card", act: () => cursor.current?.fold(true) },
    { keys: "h", does: "Close the card", act: () => cursor.current?.fold(false) },
    { keys: "x", does: "Stop the run", act: stop },
    { keys: "/", does: "Write a message", act: () => field.current?.focus() },
  ]);
  const toFailure = () => {
    const failed = firstFailed(store);
    if (failed) cursor.current?.reveal(failed);
  };
  return (
    <>
      <SessionHead onFailure={toFailure} />
      <Announcer />
      <RowList cursor={cursor} onEnter={open} />
      <div className="shrink-0 px-4 pt-1 pb-3 max-sm:px-3">
        <div className="mx-auto max-w-5xl">
          <SessionComposer field={field} onSent={() => cursor.current?.toEnd()} />
        </div>
      </div>
      <StopDialog />
    </>
  );
}

/** Keeps the calls of this session that wait for the person where rows and badges look for them. */
function useAsks(store: SessionStore, view: ChatView): void {
  const { data } = useApprovals();
  useEffect(() => {
    const own = data?.approvals.filter(
      ({ sessionId, answer }) => sessionId === store.sessionId && answer === null,
    );
    view.asks.set(Map.groupBy(own ?? [], ({ runId }) => runId));
  }, [data, store, view]);
}

function firstFailed(store: SessionStore): string | undefined {
  let first: { runId: string; openedSeq: number } | undefined;
  for (const run of store.everyRun())
    if (isFailed(run) && (!first || run.openedSeq < first.openedSeq)) first = run;
  return first?.runId;
}
