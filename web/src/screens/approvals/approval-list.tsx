import { CircleCheck } from "lucide-react";
import { useState } from "react";
import { useNow } from "../../live/use-now.ts";
import { Button } from "../../ui/button.tsx";
import { countOf } from "../../ui/measures.ts";
import { ApprovalRow } from "./approval-row.tsx";
import type { ApprovalLists } from "./use-approval-lists.ts";

const FIRST = 30;

/** What waits, and below it what has been answered. */
export function ApprovalList({
  lists,
  chosen,
  onChoose,
}: {
  lists: ApprovalLists;
  chosen: string | null;
  onChoose: (id: string) => void;
}) {
  const { waiting, settled, loadOlder } = lists;
  const now = useNow(true);
  const [most, setMost] = useState(FIRST);
  return (
    <>
      <section aria-labelledby="waiting">
        <Heading id="waiting" text="Needs you" count={waiting.length} />
        {waiting.length === 0 ? (
          <p className="flex items-center gap-2 px-4 py-3 text-sm text-ink-2">
            <CircleCheck aria-hidden className="size-4 text-ok" /> Nothing waits for you.
          </p>
        ) : (
          <ul>
            {waiting.map((approval) => (
              <ApprovalRow
                key={approval.approvalId}
                approval={approval}
                isWaiting
                isChosen={approval.approvalId === chosen}
                nowMs={now}
                onChoose={onChoose}
              />
            ))}
          </ul>
        )}
      </section>
      {settled.length > 0 && (
        <section aria-labelledby="answered">
          <Heading id="answered" text="Answered" count={settled.length} hasMore={loadOlder !== null} />
          <ul>
            {settled.slice(0, most).map((approval) => (
              <ApprovalRow
                key={approval.approvalId}
                approval={approval}
                isWaiting={false}
                isChosen={approval.approvalId === chosen}
                nowMs={now}
                onChoose={onChoose}
              />
            ))}
          </ul>
          {(settled.length > most || loadOlder) && (
            <Button
              kind="quiet"
              className="m-2"
              onClick={() => {
                setMost(most + 100);
                if (settled.length <= most + 100) loadOlder?.();
              }}
            >
              {loadOlder ? "Show more" : `Show more (${countOf(settled.length - most, "older one")})`}
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
