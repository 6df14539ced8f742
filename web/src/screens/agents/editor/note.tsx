import { CircleX, Info, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { join } from "../../../ui/join.ts";

const LOOKS = {
  info: { icon: Info, tone: "text-run", soft: "bg-run-soft" },
  warning: { icon: TriangleAlert, tone: "text-warn", soft: "bg-warn-soft" },
  error: { icon: CircleX, tone: "text-bad", soft: "bg-bad-soft" },
};

/** A line above the editor that says how things stand, and what can be done about it. */
export function Note({
  level,
  children,
  actions,
}: {
  level: keyof typeof LOOKS;
  children: ReactNode;
  actions?: ReactNode;
}) {
  const { icon: Icon, tone, soft } = LOOKS[level];
  return (
    <div
      role={level === "error" ? "alert" : "status"}
      className={join("flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-1.5", soft)}
    >
      <p className="flex min-w-0 flex-1 basis-60 items-start gap-2 text-xs text-ink">
        <Icon aria-hidden className={join("mt-0.5 size-3.5 shrink-0", tone)} />
        <span className="min-w-0 wrap-anywhere">{children}</span>
      </p>
      {actions && <div className="flex gap-1.5">{actions}</div>}
    </div>
  );
}
