import type { SessionCard } from "@retinue/core/schema/api/session";
import { ChartGantt } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { IconLink } from "../../ui/controls.tsx";
import { showAge, showMoment } from "../../ui/show-moment.ts";

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
      <IconLink
        href={`/trace/${id}`}
        aria-label={`Trace of ${letter}`}
        title={`Trace of ${letter}`}
        className="h-6"
      >
        <ChartGantt className="size-3.5" />
      </IconLink>
    </li>
  );
}

/** Which of the two sessions something is of. */
export type Letter = "A" | "B";

/** The letter of a side, wherever something of it stands. */
export function SideLetter({ letter }: { letter: Letter }) {
  return (
    <span
      className={
        letter === "A"
          ? "inline-grid size-5 shrink-0 place-items-center rounded bg-ink font-mono text-2xs font-semibold text-panel"
          : "inline-grid size-5 shrink-0 place-items-center rounded border border-ink font-mono text-2xs font-semibold text-ink"
      }
    >
      {letter}
    </span>
  );
}

type ComparedPartProps = { title: string; about?: ReactNode; aside?: ReactNode; children: ReactNode };

/** A part of the comparison with its heading. */
export function ComparedPart({ title, about, aside, children }: ComparedPartProps) {
  return (
    <section aria-label={title} className="min-w-0">
      <div className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-4 pb-2">
        <h2 className="text-sm font-semibold">{title}</h2>
        {about && <p className="figures text-xs text-ink-3">{about}</p>}
        {aside && <div className="ml-auto flex flex-wrap items-center gap-1.5">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** What stands in the place of a part that has nothing to show. */
export function PartNote({ children }: { children: string }) {
  return (
    <p role="status" className="border-y border-line bg-panel px-4 py-6 text-center text-sm text-ink-2">
      {children}
    </p>
  );
}
