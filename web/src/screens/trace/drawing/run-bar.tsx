import type { ReactNode } from "react";
import { join } from "../../../ui/join.ts";
import { lookOf, StatusIcon } from "../../../ui/status.tsx";

/** Room that a label needs to stand inside its bar, or beside it. */
const INSIDE_PX = 110;
const BESIDE_PX = 150;
const LEAST_LABEL_PX = 28;

/** A bar in pixels, and the width of everything it is drawn in. */
export type Place = { left: number; width: number; within: number };

function isOpen(standing: string): boolean {
  return standing === "running" || standing === "waiting" || standing === "interrupted";
}

/** The bar of a run with its label, which stays in sight while a long bar is scrolled. */
export function RunBar({
  standing,
  place: { left, width, within },
  stickyPx,
  isBeside = false,
  children,
}: {
  standing: string;
  place: Place;
  /** Where what is in sight begins. */
  stickyPx: number;
  /** Others may stand beside it: a label that does not fit inside is left out. */
  isBeside?: boolean;
  children: ReactNode;
}) {
  const { tone, soft } = lookOf(standing);
  const isInside = width >= (isBeside ? LEAST_LABEL_PX : INSIDE_PX);
  const isRight = within - left - width >= BESIDE_PX || within - left - width > left;
  return (
    <>
      <span
        data-standing={standing}
        className={join(
          "absolute inset-y-0 flex items-center overflow-clip rounded-[4px] border border-current/45 text-xs",
          tone,
          width >= 6 ? soft : standing === "completed" ? "bg-current/40" : "bg-current",
          isOpen(standing) && "border-dashed",
        )}
        style={{ left, width }}
      >
        {isInside && children && (
          <Label standing={standing} style={{ left: stickyPx }} className="sticky max-w-full pr-2 pl-1.5">
            {children}
          </Label>
        )}
      </span>
      {!isInside && !isBeside && children && (
        <Label
          standing={standing}
          className={join("absolute inset-y-0 text-xs", isRight ? "pl-1.5" : "justify-end pr-1.5")}
          style={
            isRight
              ? { left: left + width, maxWidth: Math.max(0, within - left - width) }
              : { right: within - left, maxWidth: left }
          }
        >
          {children}
        </Label>
      )}
    </>
  );
}

function Label({
  standing,
  children,
  className,
  style,
}: {
  standing: string;
  children: ReactNode;
  className: string;
  style: { left?: number; right?: number; maxWidth?: number };
}) {
  return (
    <span className={join("flex min-w-0 items-center gap-1 text-ink-2", className)} style={style}>
      {standing !== "completed" && <StatusIcon standing={standing} />}
      <span className="truncate">{children}</span>
    </span>
  );
}
