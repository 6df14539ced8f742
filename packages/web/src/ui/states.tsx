import type { LucideIcon } from "lucide-react";
import { CircleX, RotateCw } from "lucide-react";
import type { ReactNode } from "react";
import { ApiFailure } from "../data/client.ts";
import { join } from "./class-names.ts";
import { Button } from "./controls.tsx";
import { SEVERITIES } from "./status.tsx";

type EmptyProps = { icon: LucideIcon; title: string; children?: ReactNode };

/** Nothing is there yet, and what to do about it. */
export function Empty({ icon: Icon, title, children }: EmptyProps) {
  return (
    <div className="grid place-items-center gap-2 px-6 py-16 text-center">
      <span className="grid size-10 place-items-center rounded-xl bg-raised text-ink-3">
        <Icon className="size-5" />
      </span>
      <p className="text-base font-semibold">{title}</p>
      {children && <div className="max-w-md text-sm text-pretty text-ink-2">{children}</div>}
    </div>
  );
}

type FailedProps = {
  failure: unknown;
  onRetry?: () => void;
  /** Where to go instead. */
  children?: ReactNode;
};

/** Something could not be had: why, what to do, and another try. */
export function Failed({ failure, onRetry, children }: FailedProps) {
  const message = failure instanceof Error ? failure.message : String(failure);
  const hint = failure instanceof ApiFailure ? failure.hint : null;
  const isMissing = failure instanceof ApiFailure && failure.status === 404;
  return (
    <div role="alert" className="m-4 flex items-start gap-3 rounded-lg border border-line bg-bad-soft p-3">
      <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 flex-1 text-sm">
        <p className="font-medium wrap-anywhere first-letter:uppercase">{message}</p>
        {hint && <p className="mt-0.5 wrap-anywhere text-ink-2">{hint}</p>}
        {children && <div className="mt-1">{children}</div>}
      </div>
      {onRetry && !isMissing && (
        <Button small onClick={onRetry}>
          <RotateCw className="size-3" /> Try again
        </Button>
      )}
    </div>
  );
}

type LoadedProps<Data> = {
  query: { data: Data | undefined; error: unknown; refetch: () => unknown };
  rows?: number;
  label?: string;
  /** Where to go if it cannot be had. */
  instead?: ReactNode;
  children: (data: Data) => ReactNode;
};

/** What a query brought; until then, rows in its place or why it could not be had. */
export function Loaded<Data>({ query, rows, label, instead, children }: LoadedProps<Data>) {
  const { data, error, refetch } = query;
  if (data !== undefined) return children(data);
  if (!error) return <Loading rows={rows} label={label} />;
  return (
    <Failed failure={error} onRetry={() => void refetch()}>
      {instead}
    </Failed>
  );
}

type LoadingProps = { rows?: number | undefined; label?: string | undefined };

/** Rows that stand where something will be. */
export function Loading({ rows = 6, label = "Loading" }: LoadingProps) {
  return (
    <div role="status" aria-label={label} className="grid gap-2 p-4">
      {Array.from({ length: rows }, (_, row) => (
        <div
          // The rows never change places.
          key={`row-${row.toString()}`}
          className={join("h-8 animate-breathe rounded-md bg-raised", row % 3 === 2 && "w-2/3")}
        />
      ))}
    </div>
  );
}

type NoteProps = {
  level: keyof typeof SEVERITIES;
  children: ReactNode;
  actions?: readonly (readonly [words: string, act: () => void])[];
};

/** A line over a screen that says how things stand, and what can be done about it. */
export function Note({ level, children, actions }: NoteProps) {
  const { icon: Icon, tone, soft } = SEVERITIES[level];
  return (
    <div
      role={level === "error" ? "alert" : "status"}
      className={join("flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5", soft)}
    >
      <p className="flex min-w-0 flex-1 basis-60 items-start gap-2 text-xs text-ink">
        <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", tone)} />
        <span className="min-w-0 wrap-anywhere">{children}</span>
      </p>
      {actions && (
        <div className="flex gap-1.5">
          {actions.map(([words, act]) => (
            <Button key={words} small onClick={act}>
              {words}
            </Button>
          ))}
        </div>
      )}
    </div>
  );
}
