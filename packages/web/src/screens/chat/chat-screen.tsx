import { showCost, showCount, showNumber, showShort } from "@retinue/core/show/measures";
import { hasFailed, nameSessionStatus } from "@retinue/core/show/standing";
import { CircleX, GitBranch, MonitorPlay, OctagonX, Play, SquarePen } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { useLocation, useParams } from "wouter";
import { api } from "../../data/client.ts";
import { useApprovals, useFace } from "../../data/queries.ts";
import { useShortcuts } from "../../frame/shortcuts.ts";
import type { SessionStore, Totals } from "../../live/session-store.ts";
import { useSelected, useSignal } from "../../live/signal.ts";
import { SessionScope, useSession } from "../../live/use-session.tsx";
import { Button, ButtonLink, TextLink } from "../../ui/controls.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { findLook, StatusBadge } from "../../ui/status.tsx";
import { attempt } from "../../ui/toast.tsx";
import {
  askToStop,
  type ChatView,
  ChatViewScope,
  findView,
  liveBelow,
  stopRun,
  useChatView,
} from "./chat-view.ts";
import { SessionComposer } from "./composer.tsx";
import type { ChatRow } from "./list/flatten-session.ts";
import { RowList } from "./list/row-list.tsx";
import type { RowCursor } from "./list/use-row-cursor.ts";
import { StartPage } from "./start-page.tsx";

/** A conversation with its tree of runs, or the place where one begins. */
export default function ChatScreen() {
  const { session } = useParams<{ session?: string }>();
  if (session === undefined) return <StartPage />;
  return (
    <SessionScope key={session} sessionId={session}>
      <Conversation />
    </SessionScope>
  );
}

/** One session as a conversation with everything that happens in it. */
function Conversation() {
  const store = useSession();
  const loading = useSignal(store.loading);
  const view = useMemo(() => findView(store.sessionId), [store]);
  if (loading.state === "failed" || loading.state === "loading")
    return (
      <>
        <ScreenHead title="Chat" />
        {loading.state === "failed" ? (
          <Failed failure={loading.failure} onRetry={() => store.again()}>
            <TextLink href="/runs">All runs</TextLink>
          </Failed>
        ) : (
          <Loading label="Loading the session" />
        )}
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
  const open = (row: ChatRow) => {
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
  for (const run of store.walkRuns())
    if (hasFailed(run) && (!first || run.openedSeq < first.openedSeq)) first = run;
  return first?.runId;
}

/** Asks before a run takes others with it. */
function StopDialog() {
  const view = useChatView();
  const store = useSession();
  const runId = useSignal(view.stopping);
  const run = runId === null ? undefined : store.run(runId)?.value;
  const { displayName } = useFace(run?.agent ?? "");
  const close = () => view.stopping.set(null);
  return (
    <ConfirmDialog
      open={runId !== null}
      onClose={close}
      title={`Stop ${displayName}?`}
      yes="Stop all of it"
      no="Let it run"
      onYes={() => {
        close();
        if (runId !== null) void stopRun(runId);
      }}
    >
      <p>
        {showCount(runId === null ? 0 : liveBelow(runId, store), "run")} below it will stop too. What they
        have done so far stays on record.
      </p>
    </ConfirmDialog>
  );
}

/** Tells screen readers how the session stands, in a few words and only when that changes. Streaming text is not read out. */
function Announcer() {
  const store = useSession();
  const session = useSignal(store.session);
  const failed = useSelected(store.totals, (totals) => totals.failed);
  if (!session) return null;
  return (
    <p role="status" className="sr-only">
      {`Session ${findLook(nameSessionStatus(session)).word}.`}
      {session.asks > 0 && ` ${showCount(session.asks, "call")} waiting for you.`}
      {failed > 0 && ` ${showCount(failed, "run")} failed.`}
    </p>
  );
}

/** What the session is, how it stands and what its whole tree has used. */
function SessionHead({ onFailure }: { onFailure: () => void }) {
  const store = useSession();
  const session = useSignal(store.session);
  const hasLive = useSelected(store.totals, ({ live }) => live > 0);
  if (!session) return <ScreenHead title="Chat" />;
  const { title, state, holder } = session;
  const post = (act: string) => void attempt(() => api.post(`/api/sessions/${store.sessionId}/${act}`));
  const isInterrupted = state === "interrupted";
  return (
    <ScreenHead
      isCrowded
      title={title || "Chat"}
      about={
        <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <StatusBadge standing={nameSessionStatus(session)} />
          {holder === "elsewhere" && (
            <span className="inline-flex items-center gap-1 text-ink-2">
              <MonitorPlay aria-hidden className="size-3.5" /> running in another process
            </span>
          )}
          <Figures onFailure={onFailure} />
        </span>
      }
    >
      {isInterrupted && (
        <Button kind="primary" onClick={() => post("resume")}>
          <Play aria-hidden className="size-3.5" /> Resume
        </Button>
      )}
      {(hasLive || state === "running" || state === "waiting" || isInterrupted) && (
        <StopAll onStop={() => post("cancel")} />
      )}
      <ButtonLink href={`/trace/${store.sessionId}`} title="Trace">
        <GitBranch aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">Trace</span>
      </ButtonLink>
      <ButtonLink href="/" title="New chat">
        <SquarePen aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">New chat</span>
      </ButtonLink>
    </ScreenHead>
  );
}

function Figures({ onFailure }: { onFailure: () => void }) {
  const store = useSession();
  const { runs, live, failed, tokens, costUsd }: Totals = useSignal(store.totals);
  const isHeld = useSelected(store.session, (session) => session?.holder != null);
  return (
    <>
      <span className="figures" title="Runs of the whole tree">
        {live > 0 && `${showNumber(live)} of `}
        {showCount(runs, "run")}
        {live > 0 && (isHeld ? " live" : " open")}
      </span>
      <span className="figures text-ink-2" title="Tokens and cost of the whole tree" data-testid="tree-cost">
        {showShort(tokens)} tokens · {showCost(costUsd)}
      </span>
      {failed > 0 && (
        <button
          type="button"
          onClick={onFailure}
          title="Go to the first one"
          className="figures inline-flex h-5 items-center gap-1 rounded-full bg-bad-soft px-1.5 text-2xs font-medium text-bad hover:underline"
        >
          <CircleX aria-hidden className="size-3.5" /> {showNumber(failed)} failed
        </button>
      )}
    </>
  );
}

/** Ends the whole session; where several runs are at work, the person is asked first. */
function StopAll({ onStop }: { onStop: () => void }) {
  const store = useSession();
  const live = useSelected(store.totals, (totals) => totals.live);
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button kind="danger" title="Stop all" onClick={() => (live > 1 ? setAsking(true) : onStop())}>
        <OctagonX aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">Stop all</span>
      </Button>
      <ConfirmDialog
        open={isAsking}
        onClose={() => setAsking(false)}
        title="Stop the whole session?"
        yes="Stop everything"
        no="Let them run"
        onYes={() => {
          setAsking(false);
          onStop();
        }}
      >
        <p>{showCount(live, "run")} will stop for good. What they have done so far stays on record.</p>
      </ConfirmDialog>
    </>
  );
}
