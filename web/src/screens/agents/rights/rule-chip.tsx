import { TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { remarkOn } from "./rule-fault.ts";

/** One rule of a list, with what is odd about it. */
export function RuleChip({
  rule,
  known,
  onRemove,
  children,
}: {
  rule: string;
  known: ReadonlySet<string>;
  /** Null where nothing can be changed. */
  onRemove: (() => void) | null;
  children?: ReactNode;
}) {
  const remark = known.size > 0 ? remarkOn(rule, known) : null;
  return (
    <li className="inline-flex min-h-6 max-w-full items-center gap-1 rounded bg-raised pl-1.5 text-xs">
      {children}
      <code className="min-w-0 font-mono wrap-anywhere">{rule}</code>
      {remark && (
        <span className="inline-flex items-center gap-0.5 text-warn" title={remark.words}>
          <TriangleAlert aria-hidden className="size-3" /> {remark.level === "hint" ? "unknown" : "odd"}
        </span>
      )}
      {onRemove ? (
        <button
          type="button"
          aria-label={`Remove ${rule}`}
          onClick={onRemove}
          className="grid size-6 shrink-0 place-items-center rounded hover:bg-hover"
        >
          <X aria-hidden className="size-3" />
        </button>
      ) : (
        <span className="w-1" />
      )}
    </li>
  );
}
