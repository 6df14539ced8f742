import type { ApprovalList, ApprovalView } from "@retinue/core/schema/api/approval";
import { showCount } from "@retinue/core/show/measures";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Ban, Biohazard, CircleCheck, CircleSlash } from "lucide-react";
import { useMemo, useState } from "react";
import { Link } from "wouter";
import { api, encodePart, withQuery } from "../../data/client.ts";
import { useApprovals } from "../../data/queries.ts";
import { useNow } from "../../live/signal.ts";
import { readAskedCommand } from "../../ui/approval-card.tsx";
import { AgentChain, Countdown, RiskBadge } from "../../ui/approval-marks.tsx";
import { join } from "../../ui/class-names.ts";
import { Button } from "../../ui/controls.tsx";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { showAge } from "../../ui/show-moment.ts";
import { Badge, type BadgeLook } from "../../ui/status.tsx";

const FIRST = 30;

type ApprovalListPaneProps = {
  lists: ReturnType<typeof useApprovalLists>;
  chosen: string | null;
  onChoose: (id: string) => void;
};

/** What waits, and below it what has been answered. */
export function ApprovalListPane({ lists, chosen, onChoose }: ApprovalListPaneProps) {
  const { waiting, settled, loadOlder } = lists;
  const now = useNow(true);
  const [most, setMost] = useState(FIRST);
  const listRows = (approvals: readonly ApprovalView[], isWaiting: boolean) =>
    approvals.map((approval) => (
      <ApprovalRow
        key={approval.approvalId}
        approval={approval}
        isWaiting={isWaiting}
        isChosen={approval.approvalId === chosen}
        nowMs={now}
        onChoose={onChoose}
      />
    ));
  return (
    <>
      <section aria-labelledby="waiting">
        <Heading id="waiting" text="Needs you" count={waiting.length} />
        {waiting.length === 0 ? (
          <p className="flex items-center gap-2 px-4 py-3 text-sm text-ink-2">
            <CircleCheck aria-hidden className="size-4 text-ok" /> Nothing waits for you.
          </p>
        ) : (
          <ul>{listRows(waiting, true)}</ul>
        )}
      </section>
      {settled.length > 0 && (
        <section aria-labelledby="answered">
          <Heading id="answered" text="Answered" count={settled.length} hasMore={loadOlder !== null} />
          <ul>{listRows(settled.slice(0, most), false)}</ul>
          {(settled.length > most || loadOlder) && (
            <Button
              kind="quiet"
              className="m-2"
              onClick={() => {
                setMost(most + 100);
                if (settled.length <= most + 100) loadOlder?.();
              }}
            >
              {loadOlder ? "Show more" : `Show more (${showCount(settled.length - most, "older one")})`}
            </Button>
          )}
        </section>
      )}
    </>
  );
}

type HeadingProps = { id: string; text: string; count: number; hasMore?: boolean };

function Heading({ id, text, count, hasMore = false }: HeadingProps) {
  return (
    <h2
      id={id}
      className="sticky top-0 z-10 flex items-center gap-1.5 border-b border-line bg-ground px-4 py-1.5 text-xs font-semibold text-ink-2"
    >
      {text}{" "}
      <span className="figures font-normal text-ink-3">
        {count}
        {hasMore && " or more"}
      </span>
    </h2>
  );
}

type ApprovalRowProps = {
  approval: ApprovalView;
  isWaiting: boolean;
  isChosen: boolean;
  nowMs: number;
  onChoose: (id: string) => void;
};

/** One call in the list; the whole of it is a link. */
function ApprovalRow({ approval, isWaiting, isChosen, nowMs, onChoose }: ApprovalRowProps) {
  const { approvalId, chain, tool, session, sessionId, risk, tainted, expiresAtMs } = approval;
  return (
    <li className="[contain-intrinsic-size:auto_5.5rem] [content-visibility:auto]">
      <Link
        href={`/approvals/${encodePart(approvalId)}`}
        onClick={() => onChoose(approvalId)}
        aria-current={isChosen ? "true" : undefined}
        data-approval={approvalId}
        className={join(
          "grid grid-cols-1 gap-1 border-b border-line px-4 py-2.5 hover:bg-hover focus-visible:-outline-offset-2",
          isChosen && "bg-accent-soft hover:bg-accent-soft",
        )}
      >
        <span className="flex items-start gap-2">
          <span className="min-w-0 flex-1">
            <AgentChain chain={chain} />
          </span>
          <span className="figures shrink-0 pt-0.5 text-2xs text-ink-3">
            {showAge(approval.answer?.atMs ?? approval.requestedAtMs, nowMs)}
          </span>
        </span>
        <span className="truncate font-mono text-xs text-ink-2">{summarizeCall(approval)}</span>
        <span className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-3">
          {isWaiting ? <RiskBadge risk={risk} /> : <Outcome approval={approval} />}
          {isWaiting && tainted && (
            <Badge look={{ icon: Biohazard, word: "outside text", tone: "text-warn" }} quiet />
          )}
          {isWaiting && expiresAtMs !== null && <Countdown expiresAtMs={expiresAtMs} />}
          <span className="min-w-0 flex-1 basis-24 truncate text-2xs" title={session || sessionId}>
            {session || sessionId}
          </span>
        </span>
        <span className="sr-only">{tool}</span>
      </Link>
    </li>
  );
}

const ENDED = {
  settled: { icon: CircleSlash, word: "not needed any more", tone: "text-off" },
  allowed: { icon: CircleCheck, word: "allowed", tone: "text-ok" },
  denied: { icon: Ban, word: "denied", tone: "text-bad" },
} satisfies Record<string, BadgeLook>;

function Outcome({ approval: { answer } }: { approval: ApprovalView }) {
  return (
    <Badge look={ENDED[answer === null ? "settled" : answer.allowed ? "allowed" : "denied"]} quiet>
      {answer && <span className="font-normal text-ink-3">by {revealHidden(answer.by)}</span>}
    </Badge>
  );
}

/** The call in a line; the whole of it is shown once it is chosen. */
function summarizeCall({ tool, input, presented, targets }: ApprovalView): string {
  const said = readAskedCommand(input)?.text ?? (targets.join(", ") || presented);
  return revealHidden(`${tool} ${said || (JSON.stringify(input) ?? "")}`)
    .replaceAll(/\s+/g, " ")
    .slice(0, 300);
}

const NONE: readonly ApprovalView[] = [];

/** What waits, the oldest first, and what does not any more, the newest first; kept up to date by the news stream. */
export function useApprovalLists() {
  const open = useApprovals();
  const answered = useInfiniteQuery({
    queryKey: ["approvals", "answered"],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      api.get<ApprovalList>(withQuery("/api/approvals", { open: 0, after: pageParam })),
    getNextPageParam: ({ next }) => next,
  });
  const waiting = open.data?.approvals ?? NONE;
  const settled = useMemo(() => {
    const ids = new Set(waiting.map(({ approvalId }) => approvalId));
    const all = answered.data?.pages.flatMap(({ approvals }) => approvals) ?? NONE;
    return all.filter(({ approvalId }) => !ids.has(approvalId));
  }, [answered.data, waiting]);
  return {
    waiting,
    settled,
    isLoading: open.isPending,
    failure: open.data ? null : open.error,
    retry: () => void Promise.all([open.refetch(), answered.refetch()]),
    /** Loads answers further back; null if there are none. */
    loadOlder: answered.hasNextPage ? () => void answered.fetchNextPage() : null,
  };
}
