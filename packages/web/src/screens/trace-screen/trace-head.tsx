import { Menu } from "@base-ui/react/menu";
import type { Trace } from "@retinue/core/schema/inspect/trace";
import { showCost, showCount, showNumber, showShort } from "@retinue/core/show/measures";
import { nameSessionStatus, nameStatus } from "@retinue/core/show/standing";
import { ChevronDown, Download, MessageSquareText } from "lucide-react";
import type { ReactNode } from "react";
import { useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { Button, ButtonLink } from "../../ui/controls.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { StatusBadge } from "../../ui/status.tsx";
import { type State, stateAt } from "./playhead/course.ts";
import { useIsPast, usePlayhead, useThen } from "./playhead/playhead-scope.tsx";
import { NOT_BEGUN } from "./playhead/run-at.ts";
import { showSpan } from "./time-axis.ts";

/** What the trace is of, how it stands and what it amounts to. */
export function TraceHead({ trace }: { trace: Trace }) {
  const { id, title } = trace.session;
  const card = useSignal(useSession().session);
  const standing = nameSessionStatus(card ?? { state: trace.session.state, asks: 0 });
  const isReplayed = useIsPast();
  return (
    <ScreenHead
      isCrowded
      title={title || id}
      tab={`Trace: ${title || id}`}
      about={
        <div className="flex flex-wrap items-start gap-x-3 gap-y-0.5 sm:flex-nowrap">
          {isReplayed ? (
            <PlayheadFigures trace={trace} now={standing} />
          ) : (
            <>
              <StatusBadge standing={standing} />
              <Totals trace={trace} />
            </>
          )}
        </div>
      }
    >
      <ButtonLink href={`/chat/${id}`} title="Chat">
        <MessageSquareText aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">Chat</span>
      </ButtonLink>
      <ExportMenu sessionId={id} />
    </ScreenHead>
  );
}

function Totals({ trace: { totals, session } }: { trace: Trace }) {
  const live = useSignal(useSession().totals);
  const isLive = session.state === "running" && live.runs >= totals.runs;
  const { atOnce, depth } = totals;
  return (
    <FigureList label="In all">
      <Figure name="Runs">{showCount(totals.runs, "run")}</Figure>
      <Figure name="Agents">{showCount(totals.agents, "agent")}</Figure>
      <Figure name="Depth">{showCount(depth + 1, "level")}</Figure>
      <Figure name="Most at once">{showNumber(atOnce)} at once</Figure>
      <Figure name="Turns">{showCount(totals.turns, "turn")}</Figure>
      <Figure name="Calls">{showCount(totals.calls, "call")}</Figure>
      <Figure name="Tokens">{showShort(isLive ? live.tokens : totals.tokens)} tokens</Figure>
      <Figure name="Cost">{showCost(isLive ? live.costUsd : totals.costUsd)}</Figure>
      <Figure name="Time at work">{showSpan(totals.activeMs)} at work</Figure>
    </FigureList>
  );
}

function FigureList({ label, children }: { label: string; children: ReactNode }) {
  return (
    <dl aria-label={label} className="figures flex min-w-0 flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-2">
      {children}
    </dl>
  );
}

function Figure({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="whitespace-nowrap">
      <dt className="sr-only">{name}</dt>
      <dd title={name}>{children}</dd>
    </div>
  );
}

const FORMATS = [
  { format: "md", name: "Markdown", about: "the conversation, to read" },
  { format: "json", name: "JSON", about: "the whole trace, for programs" },
];

function ExportMenu({ sessionId }: { sessionId: string }) {
  return (
    <Menu.Root>
      <Menu.Trigger render={<Button title="Export" />}>
        <Download aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">Export</span>{" "}
        <ChevronDown aria-hidden className="size-3" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} align="end" className="z-50">
          <Menu.Popup className="w-72 animate-arrive rounded-lg border border-line bg-panel p-1 shadow-float">
            {FORMATS.map(({ format, name, about }) => (
              <Menu.LinkItem
                key={format}
                href={`/api/sessions/${sessionId}/export?format=${format}`}
                download={`${sessionId}.${format}`}
                closeOnClick
                className="block rounded-md px-2.5 py-1.5 text-sm data-[highlighted]:bg-hover"
              >
                <span className="font-medium">{name}</span>
                <span className="block text-xs text-ink-3">{about}</span>
              </Menu.LinkItem>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** How the session stood where the playhead is, and what it had come to; `now` is how it stands. */
function PlayheadFigures({ trace, now }: { trace: Trace; now: string }) {
  const { course, endMs, calls } = usePlayhead();
  const thenMs = useThen() ?? endMs;
  const state = stateAt(course, thenMs);
  return (
    <>
      <StatusBadge standing={thenMs >= endMs ? now : standingThen(trace, state, thenMs)} />
      <FigureList label="At this moment">
        <Figure name="Runs that had begun">
          {showNumber(state.begun)} of {showCount(course.runs, "run")}
        </Figure>
        <Figure name="Live">{showNumber(state.live)} live</Figure>
        {state.failed > 0 && <Figure name="Failed">{showNumber(state.failed)} failed</Figure>}
        {calls === "ready" && (
          <>
            <Figure name="Turns">{showCount(state.turns, "turn")}</Figure>
            <Figure name="Calls">{showCount(state.calls, "call")}</Figure>
            <Figure name="Tokens">{showShort(state.tokens)} tokens</Figure>
            <Figure name="Cost">{showCost(state.costUsd)}</Figure>
          </>
        )}
      </FigureList>
    </>
  );
}

/** Between two tasks a session stands as the one before left it. */
function standingThen({ runs }: Trace, { live, waiting }: State, atMs: number): string {
  if (waiting > 0) return "waiting";
  if (live > 0) return "running";
  const last = runs.findLast(({ endMs }) => endMs !== null && endMs <= atMs);
  return last ? nameStatus(last) : NOT_BEGUN;
}
