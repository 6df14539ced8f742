import { MessageSquareText } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Trace } from "../../../../src/schema/inspect/trace.ts";
import { useSignal } from "../../live/signal.ts";
import { useSession } from "../../live/use-session.tsx";
import { countOf, showCost, showTokens } from "../../ui/measures.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { StatusBadge } from "../../ui/status.tsx";
import { ExportMenu } from "./export-menu.tsx";
import { ReplayHead } from "./replay/replay-head.tsx";
import { useIsReplayed } from "./replay/replay-scope.tsx";
import { showSpan } from "./show-span.ts";

/** What the trace is of, how it stands and what it amounts to. */
export function TraceHead({ trace }: { trace: Trace }) {
  const { id, title } = trace.session;
  const card = useSignal(useSession().session);
  const state = card?.state ?? trace.session.state;
  const needsYou = state === "running" && (card?.asks ?? 0) > 0;
  const standing = needsYou ? "waiting" : state;
  const isReplayed = useIsReplayed();
  return (
    <ScreenHead
      isCrowded
      title={title || id}
      tab={`Trace: ${title || id}`}
      about={
        <div className="flex flex-wrap items-start gap-x-3 gap-y-0.5 sm:flex-nowrap">
          {isReplayed ? (
            <ReplayHead trace={trace} now={standing} Figure={Figure} />
          ) : (
            <>
              <StatusBadge standing={standing} />
              <Totals trace={trace} />
            </>
          )}
        </div>
      }
    >
      <Link
        href={`/chat/${id}`}
        title="Chat"
        className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-2.5 text-sm font-medium hover:bg-hover"
      >
        <MessageSquareText aria-hidden className="size-3.5" /> <span className="max-sm:sr-only">Chat</span>
      </Link>
      <ExportMenu sessionId={id} />
    </ScreenHead>
  );
}

function Totals({ trace: { totals, session } }: { trace: Trace }) {
  const live = useSignal(useSession().totals);
  const isLive = session.state === "running" && live.runs >= totals.runs;
  const { atOnce, depth } = totals;
  return (
    <dl aria-label="In all" className="figures flex min-w-0 flex-wrap gap-x-3 gap-y-0.5 text-xs text-ink-2">
      <Figure name="Runs">{countOf(totals.runs, "run")}</Figure>
      <Figure name="Agents">{countOf(totals.agents, "agent")}</Figure>
      <Figure name="Depth">{countOf(depth + 1, "level")}</Figure>
      <Figure name="Most at once">{atOnce.toLocaleString("en-US")} at once</Figure>
      <Figure name="Turns">{countOf(totals.turns, "turn")}</Figure>
      <Figure name="Calls">{countOf(totals.calls, "call")}</Figure>
      <Figure name="Tokens">{showTokens(isLive ? live.tokens : totals.tokens)} tokens</Figure>
      <Figure name="Cost">{showCost(isLive ? live.costUsd : totals.costUsd)}</Figure>
      <Figure name="Time at work">{showSpan(totals.activeMs)} at work</Figure>
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
