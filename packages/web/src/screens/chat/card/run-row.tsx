import { showCost, showCount, showShort, showSpacedDuration } from "@retinue/core/show/measures";
import {
  type LucideIcon,
  MessageCirclePlus,
  Pause,
  Play,
  ShieldAlert,
  Square,
  SquareArrowOutUpRight,
} from "lucide-react";
import { type ComponentProps, type KeyboardEvent, useEffect, useRef } from "react";
import { api } from "../../../data/client.ts";
import { useFace } from "../../../data/queries.ts";
import { useNow, useSelected } from "../../../live/signal.ts";
import { useKeptText } from "../../../live/use-kept-text.ts";
import { useSession } from "../../../live/use-session.tsx";
import { join } from "../../../ui/class-names.ts";
import { Button, Chevron, IconLink } from "../../../ui/controls.tsx";
import { AgentMark } from "../../../ui/face.tsx";
import { Cell } from "../../../ui/grid.tsx";
import { StatusBadge } from "../../../ui/status.tsx";
import { attempt, tell, useAttempt } from "../../../ui/toast.tsx";
import { askToStop, useChatView } from "../chat-view.ts";
import type { ChatRow } from "../list/flatten-session.ts";
import { RunActivity } from "./run-activity.tsx";
import { StepsToggle } from "./run-body.tsx";
import { useIsHeld, useIsHere, useRun, useStandingNow } from "./use-run.ts";

/** The line of a run: who it is, how it stands, what it has used, and what can be done with it. */
export function RunRow({ row }: { row: Extract<ChatRow, { kind: "run" }> }) {
  const { runId, level, isOpen, hasBody } = row;
  const view = useChatView();
  const run = useRun(runId);
  const { displayName } = useFace(run.agent);
  const standing = useStandingNow(runId);
  const isSteering = useSelected(view.steering, (steered) => steered === runId);
  const isRoot = level === 1;
  const isLive = run.endedAtMs === null;
  return (
    <div className={join(!(hasBody && !isRoot) && "pb-1.5")}>
      <div
        className={join(
          "grid grid-cols-1 gap-y-0.5 px-1.5 py-1",
          !isRoot && "border border-line bg-panel shadow-[0_1px_0_oklch(0_0_0/0.02)]",
          !isRoot && (hasBody ? "rounded-t-lg border-b-transparent" : "rounded-lg"),
        )}
      >
        <div className="flex flex-wrap items-center gap-x-2.5 gap-y-0.5">
          <Cell className="flex min-w-0 flex-1 basis-56 items-center gap-2 max-sm:basis-32">
            <Toggle isOpen={isOpen} name={displayName} onToggle={() => view.open(row.key, !isOpen)} />
            <AgentMark name={run.agent} size="sm" />
            <span className="shrink-0 text-sm font-semibold">{displayName}</span>
            <Badges level={level} attempt={run.attempt} tainted={run.tainted} />
            {run.model && (
              <span className="min-w-0 shrink truncate text-2xs text-ink-3 max-sm:hidden">{run.model}</span>
            )}
            {!isRoot && (
              <span className="min-w-0 flex-1 truncate text-xs text-ink-2" title={run.task}>
                {run.task}
              </span>
            )}
          </Cell>
          <Cell className="flex items-center gap-2.5 max-sm:order-last max-sm:basis-full max-sm:pl-6.5">
            <StatusBadge standing={standing} />
            <RunFigures runId={runId} />
          </Cell>
          <Cell>
            <RunActions runId={runId} name={displayName} />
          </Cell>
        </div>
        {isLive && !isRoot && (
          <Cell className="flex items-center gap-3 pr-1 pb-0.5 pl-7">
            <div className="min-w-0 flex-1">
              <RunActivity runId={runId} quoted={!isOpen} />
            </div>
            {isOpen && <StepsToggle runId={runId} />}
          </Cell>
        )}
        {isSteering && (
          <Cell className="pb-1 pl-7">
            <SteerBox runId={runId} name={displayName} isLive={isLive} />
          </Cell>
        )}
      </div>
    </div>
  );
}

function Toggle({ isOpen, name, onToggle }: { isOpen: boolean; name: string; onToggle: () => void }) {
  return (
    <button
      type="button"
      aria-label={`${isOpen ? "Collapse" : "Expand"} ${name}`}
      aria-expanded={isOpen}
      onClick={onToggle}
      className="-mr-1 inline-grid size-5 shrink-0 place-items-center rounded text-ink-3 hover:bg-hover hover:text-ink"
    >
      <Chevron isOpen={isOpen} className="size-3.5" />
    </button>
  );
}

/** What is out of the ordinary: a retry, text from outside, and a depth that a phone has no room to draw. */
function Badges({ level, attempt, tainted }: { level: number; attempt: number; tainted: boolean }) {
  return (
    <>
      {level > 4 && (
        <span
          className={join(
            "figures shrink-0 rounded bg-raised px-1 text-2xs text-ink-2",
            level <= 13 && "sm:hidden",
          )}
        >
          depth {level - 1}
        </span>
      )}
      {attempt > 0 && (
        <span className="figures shrink-0 rounded bg-warn-soft px-1 text-2xs text-warn">retry {attempt}</span>
      )}
      {tainted && (
        <span
          role="img"
          aria-label="Text from outside has entered this run"
          title="Text from outside has entered this run"
          className="shrink-0 text-ink-3"
        >
          <ShieldAlert aria-hidden className="size-3" />
        </span>
      )}
    </>
  );
}

/** What can be done with a run: speak to it, pause it, stop it, look at it. */
function RunActions({ runId, name }: { runId: string; name: string }) {
  const store = useSession();
  const view = useChatView();
  const isLive = useRun(runId).endedAtMs === null;
  const isHeld = useIsHeld();
  const isHere = useIsHere();
  const isPaused = useSelected(store.live(runId), (live) => live?.isPaused === true);
  const control = (act: string) => void attempt(() => api.post(`/api/runs/${runId}/${act}`));
  return (
    <span className="flex shrink-0 items-center">
      {isLive && isHere && (
        <>
          <Act
            icon={MessageCirclePlus}
            words={`Steer ${name}`}
            onClick={() => view.steering.set(view.steering.value === runId ? null : runId)}
          />
          {isPaused ? (
            <Act icon={Play} words={`Continue ${name}`} onClick={() => control("unpause")} />
          ) : (
            <Act icon={Pause} words={`Pause ${name}`} onClick={() => control("pause")} />
          )}
        </>
      )}
      {isLive && isHeld && (
        <Act icon={Square} words={`Stop ${name}`} onClick={() => askToStop(runId, store, view)} />
      )}
      <IconLink
        href={`/trace/${store.sessionId}?run=${runId}`}
        aria-label={`Open ${name} in the trace`}
        title="Open in the trace"
        className="size-6 text-ink-3"
      >
        <SquareArrowOutUpRight aria-hidden className="size-3.5" />
      </IconLink>
    </span>
  );
}

function Act({ icon: Icon, words, ...rest }: ComponentProps<"button"> & { icon: LucideIcon; words: string }) {
  return (
    <Button {...rest} kind="quiet" small aria-label={words} title={words} className="w-6 px-0! text-ink-3">
      <Icon aria-hidden className="size-3.5" />
    </Button>
  );
}

/** Time, turns, tokens and cost of a run; they grow while it lives. */
function RunFigures({ runId }: { runId: string }) {
  const live = useSession().live(runId);
  const { iterations, maxIterations, tokens, costUsd } = useRun(runId);
  const turn = useSelected(live, (now) => now?.turn ?? 0);
  const liveTokens = useSelected(live, (now) => now?.tokens);
  const liveCost = useSelected(live, (now) => now?.costUsd);
  const turns = Math.max(iterations, turn);
  const cost = liveCost === undefined ? costUsd : liveCost;
  return (
    <span className="figures flex shrink-0 items-center gap-x-2.5 text-2xs text-ink-3">
      <Elapsed runId={runId} />
      <span
        title={`${showCount(turns, "turn")}${maxIterations === null ? "" : ` of at most ${maxIterations}`}`}
      >
        {maxIterations === null ? turns : `${turns}/${maxIterations}`}
        <span className="sr-only"> turns</span>
      </span>
      <span title="Tokens and cost of this run alone">
        {showShort(liveTokens ?? tokens)}
        <span className="sr-only"> tokens</span> · {showCost(cost)}
      </span>
    </span>
  );
}

function Elapsed({ runId }: { runId: string }) {
  const { startedAtMs, endedAtMs, durationMs } = useRun(runId);
  const isHeld = useIsHeld();
  const now = useNow(endedAtMs === null && isHeld);
  if (endedAtMs === null && !isHeld) return null;
  return <span>{showSpacedDuration(durationMs ?? (endedAtMs ?? now) - startedAtMs)}</span>;
}

/** A word to a run while it works; it will read it before its next turn. */
function SteerBox({ runId, name, isLive }: { runId: string; name: string; isLive: boolean }) {
  const view = useChatView();
  // Kept as drafts are: the row may scroll out of the page, and back.
  const [text, setText] = useKeptText(`${runId}.steer`);
  const [isSending, send] = useAttempt();
  const field = useRef<HTMLInputElement>(null);
  // It appears because the person asked for it.
  useEffect(() => field.current?.focus({ preventScroll: true }), []);
  const close = () => view.steering.set(null);
  const steer = async () => {
    const words = text.trim();
    if (!words || !isLive) return;
    const isSent = await send(() => api.post(`/api/runs/${runId}/steer`, { text: words }));
    if (!isSent) return;
    setText("");
    view.say(runId, words);
    tell(`${name} will read it before its next turn.`);
    close();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape") close();
    if (event.key === "Enter" && !event.nativeEvent.isComposing) void steer();
  };
  return (
    <div className="flex items-center gap-1.5">
      <input
        ref={field}
        aria-label={`Message to ${name}`}
        placeholder={`Tell ${name} something before its next turn…`}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="h-7 min-w-0 flex-1 rounded-md border border-line-strong bg-panel px-2 text-sm placeholder:text-ink-3"
      />
      {!isLive && <span className="shrink-0 text-xs text-ink-2">It has ended meanwhile.</span>}
      <Button small kind="primary" disabled={!text.trim() || isSending || !isLive} onClick={steer}>
        Steer
      </Button>
      <Button small kind="quiet" onClick={close}>
        Cancel
      </Button>
    </div>
  );
}
