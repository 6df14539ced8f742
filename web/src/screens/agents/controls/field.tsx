import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";

/** How inputs look, wherever they stand. */
export const INPUT =
  "w-full rounded-md border border-line-strong bg-panel px-2 text-sm text-ink placeholder:text-ink-3 focus-visible:outline-2 focus-visible:outline-offset-0 focus-visible:outline-accent read-only:bg-raised read-only:text-ink-2 disabled:bg-raised disabled:text-ink-2";

/** A label, what it labels, and what to know about it. */
export function Field({
  id,
  label,
  hint,
  fault,
  children,
}: {
  id: string;
  label: string;
  hint?: ReactNode;
  fault?: string | null;
  children: ReactNode;
}) {
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-1">
      <label htmlFor={id} className="text-xs font-medium text-ink-2">
        {label}
      </label>
      {children}
      <FieldNote id={`${id}-note`} hint={hint} fault={fault ?? null} />
    </div>
  );
}

/** What is wrong with a field, or else what it is for. */
export function FieldNote({ id, hint, fault }: { id: string; hint?: ReactNode; fault: string | null }) {
  if (fault) {
    return (
      <p id={id} className="flex items-start gap-1 text-xs text-bad">
        <CircleAlert aria-hidden className="mt-0.5 size-3 shrink-0" /> {fault}
      </p>
    );
  }
  return hint ? (
    <p id={id} className="text-xs text-pretty text-ink-3">
      {hint}
    </p>
  ) : null;
}
