import { CircleAlert, CircleCheck, X } from "lucide-react";
import { useState } from "react";
import { ApiFailure } from "../data/client.ts";
import { Signal, useSignal } from "../live/signal.ts";
import { Button } from "./controls.tsx";

type Toast = { id: number; level: "good" | "bad"; text: string; hint: string | null };

const shown = new Signal<readonly Toast[]>([]);
let last = 0;
const STAY_MS = 6_000;

function show(toast: Omit<Toast, "id">): void {
  const id = ++last;
  shown.set([...shown.value, { ...toast, id }].slice(-4));
  if (toast.level === "good") setTimeout(() => dismiss(id), STAY_MS);
}

function dismiss(id: number): void {
  shown.set(shown.value.filter((toast) => toast.id !== id));
}

/** Says that something was done. */
export function tell(text: string): void {
  show({ level: "good", text, hint: null });
}

/** Says what went wrong and what to do; it stays until it is closed. */
export function tellFailure(failure: unknown): void {
  const text = failure instanceof Error ? failure.message : String(failure);
  show({ level: "bad", text, hint: failure instanceof ApiFailure ? failure.hint : null });
}

/** Does something and tells of its failure. */
export async function attempt(act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (failure) {
    tellFailure(failure);
    return false;
  }
}

/** Does one thing at a time and tells of its failure; `isBusy` while it is at it. */
export function useAttempt(): [isBusy: boolean, attempt: (act: () => Promise<unknown>) => Promise<boolean>] {
  const [isBusy, setBusy] = useState(false);
  const once = async (act: () => Promise<unknown>) => {
    if (isBusy) return false;
    setBusy(true);
    const isDone = await attempt(act);
    setBusy(false);
    return isDone;
  };
  return [isBusy, once];
}

/** Where messages about what was done appear: above the field in which the next one is written. */
export function Toasts() {
  const toasts = useSignal(shown);
  return (
    <div
      role="status"
      aria-live="polite"
      className="pointer-events-none fixed right-3 bottom-28 z-60 grid w-[min(24rem,calc(100vw-1.5rem))] gap-2 max-md:bottom-40"
    >
      {toasts.map(({ id, level, text, hint }) => (
        <div
          key={id}
          className="pointer-events-auto flex animate-arrive items-start gap-2 rounded-lg border border-line bg-panel p-3 shadow-float"
        >
          {level === "good" ? (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
          ) : (
            <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          )}
          <div className="min-w-0 flex-1 text-sm">
            <p className="wrap-anywhere">{text}</p>
            {hint && <p className="wrap-anywhere text-ink-2">{hint}</p>}
          </div>
          <Button kind="quiet" small aria-label="Dismiss" onClick={() => dismiss(id)}>
            <X className="size-3.5" />
          </Button>
        </div>
      ))}
    </div>
  );
}
