import { Ban, CircleCheck } from "lucide-react";
import type { ApprovalView } from "../../../../src/schema/api/approval.ts";
import { useNow } from "../../live/use-now.ts";
import { showAge } from "../measures.ts";
import { VisibleText } from "./visible-text-block.tsx";

/** What was said to a call, by whom and when. */
export function GivenAnswer({ answer }: { answer: NonNullable<ApprovalView["answer"]> }) {
  const now = useNow(true);
  const { allowed, by, note, atMs } = answer;
  return (
    <div className="flex items-start gap-2 text-sm">
      {allowed ? (
        <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
      ) : (
        <Ban aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      )}
      <div className="min-w-0">
        <p>
          <strong className={allowed ? "font-semibold text-ok" : "font-semibold text-bad"}>
            {allowed ? "Allowed" : "Denied"}
          </strong>{" "}
          by <VisibleText text={by} />,{" "}
          <time dateTime={new Date(atMs).toISOString()} className="text-ink-2">
            {showAge(atMs, now)}
          </time>
        </p>
        {note && (
          <p className="mt-0.5 whitespace-pre-wrap wrap-anywhere text-ink-2">
            <VisibleText text={note} />
          </p>
        )}
      </div>
    </div>
  );
}
