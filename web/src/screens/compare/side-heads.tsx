import { ChartGantt } from "lucide-react";
import { Link } from "wouter";
import type { SessionCard } from "../../../../src/schema/api/session.ts";
import { showAge, showMoment } from "../../ui/measures.ts";
import { type Letter, SideLetter } from "./side-letter.tsx";

/** Which session is A and which is B; stays in sight, so that no letter has to be remembered. */
export function SideHeads({ a, b, nowMs }: { a: SessionCard; b: SessionCard; nowMs: number }) {
  return (
    <ul
      aria-label="Sessions that are compared"
      className="sticky top-0 z-20 grid shrink-0 border-b border-line bg-panel md:grid-cols-2"
    >
      <SideHead letter="A" card={a} nowMs={nowMs} />
      <SideHead letter="B" card={b} nowMs={nowMs} />
    </ul>
  );
}

function SideHead({ letter, card, nowMs }: { letter: Letter; card: SessionCard; nowMs: number }) {
  const { session_id: id, title, updated_at: updatedAt } = card;
  const changedMs = Date.parse(updatedAt);
  return (
    <li className="flex h-10 min-w-0 items-center gap-2 px-4 max-md:h-9 md:not-first:border-l">
      <SideLetter letter={letter} />
      <Link href={`/chat/${id}`} title={title || id} className="truncate text-sm font-medium hover:underline">
        {title || id}
      </Link>
      <span title={showMoment(changedMs)} className="figures ml-auto shrink-0 text-xs text-ink-3">
        {showAge(changedMs, nowMs)}
      </span>
      <Link
        href={`/trace/${id}`}
        aria-label={`Trace of ${letter}`}
        title={`Trace of ${letter}`}
        className="inline-grid h-6 w-7 shrink-0 place-items-center rounded-md text-ink-2 hover:bg-hover hover:text-ink"
      >
        <ChartGantt className="size-3.5" />
      </Link>
    </li>
  );
}
