import { showCost, showCount, showNumber, showShort } from "@retinue/core/show/measures";
import { nameSessionStatus } from "@retinue/core/show/standing";
import { CircleX, GitBranch, MonitorPlay, OctagonX, Play, SquarePen } from "lucide-react";
import { useState } from "react";
import { api } from "../../data/client.ts";
import type { Totals } from "../../live/session-store.ts";
import { useSelected, useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { Button, ButtonLink } from "../../ui/controls.tsx";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { StatusBadge } from "../../ui/status.tsx";
import { attempt } from "../../ui/toast.tsx";

/** What the session is, how it stands and what its whole tree has used. */
export function SessionHead({ onFailure }: { onFailure: () => void }) {
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
