import { Check, Copy } from "lucide-react";
import { type ReactNode, useState } from "react";
import { VisibleText } from "../../../ui/approval/visible-text-block.tsx";
import { Button } from "../../../ui/button.tsx";
import { join } from "../../../ui/join.ts";
import { REACHABLE } from "../../../ui/reachable.ts";
import { tellFailure } from "../../../ui/toast.tsx";

const STAY_MS = 1_500;

/** A part of a tab with its heading. */
export function Section({
  title,
  aside,
  children,
}: {
  title: string;
  aside?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="grid min-w-0 gap-1.5">
      <div className="flex min-h-6 items-center gap-2">
        <h3 className="text-xs font-semibold text-ink-2">{title}</h3>
        {aside && <div className="ml-auto flex items-center gap-1">{aside}</div>}
      </div>
      {children}
    </section>
  );
}

/** A text as it is, in which nothing can hide; a long one scrolls by itself. */
export function TextBlock({ label, text, tall = false }: { label: string; text: string; tall?: boolean }) {
  return (
    <figure
      aria-label={label}
      {...REACHABLE}
      className={join(
        "overflow-auto rounded-md border border-line bg-raised",
        tall ? "max-h-[60vh]" : "max-h-80",
      )}
    >
      <pre className="p-2.5 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere text-ink">
        <VisibleText text={text} />
      </pre>
    </figure>
  );
}

/** Copies a text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () =>
    navigator.clipboard.writeText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), STAY_MS);
    }, tellFailure);
  return (
    <Button kind="quiet" small aria-label={label} onClick={() => void copy()}>
      {isCopied ? <Check className="size-3.5 text-ok" /> : <Copy className="size-3.5" />}
      {isCopied ? "Copied" : "Copy"}
    </Button>
  );
}

/** Something that is not there, in a few words. */
export function Nothing({ children }: { children: ReactNode }) {
  return (
    <p className="rounded-md border border-dashed border-line px-3 py-4 text-center text-sm text-ink-3">
      {children}
    </p>
  );
}
