import { MessageCirclePlus, Pause, Play, Square, SquareArrowOutUpRight } from "lucide-react";
import type { ComponentProps, ComponentType } from "react";
import { Link } from "wouter";
import { api } from "../../../api/client.ts";
import { useSelected } from "../../../live/use-selected.ts";
import { useSession } from "../../../live/use-session.tsx";
import { Button } from "../../../ui/button.tsx";
import { attempt } from "../../../ui/toast.tsx";
import { useChatView } from "../chat-view.ts";
import { askToStop } from "../stop-run.ts";
import { useRun } from "./use-run.ts";
import { useIsHeld, useIsHere } from "./use-standing.ts";

/** What can be done with a run: speak to it, pause it, stop it, look at it. */
export function RunActions({ runId, name }: { runId: string; name: string }) {
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
      <Link
        href={`/trace/${store.sessionId}?run=${runId}`}
        aria-label={`Open ${name} in the trace`}
        title="Open in the trace"
        className="inline-grid size-6 place-items-center rounded-md text-ink-3 hover:bg-hover hover:text-ink"
      >
        <SquareArrowOutUpRight aria-hidden className="size-3.5" />
      </Link>
    </span>
  );
}

function Act({
  icon: Icon,
  words,
  ...rest
}: ComponentProps<"button"> & { icon: ComponentType<{ className?: string }>; words: string }) {
  return (
    <Button {...rest} kind="quiet" small aria-label={words} title={words} className="w-6 px-0! text-ink-3">
      <Icon aria-hidden className="size-3.5" />
    </Button>
  );
}
