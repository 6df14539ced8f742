import type { ComponentProps } from "react";
import { join } from "./join.ts";

type Kind = "primary" | "plain" | "quiet" | "danger";

const KINDS: Readonly<Record<Kind, string>> = {
  primary: "bg-accent text-accent-ink border-transparent hover:brightness-110",
  plain: "bg-panel text-ink border-line-strong hover:bg-hover",
  quiet: "bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-panel text-bad border-line-strong hover:bg-bad-soft",
};

/** A button. `small` is for rows; an icon alone needs an `aria-label`. */
export function Button({
  kind = "plain",
  small = false,
  className,
  ...rest
}: ComponentProps<"button"> & { kind?: Kind; small?: boolean }) {
  return (
    <button
      type="button"
      {...rest}
      className={join(
        "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors disabled:opacity-50",
        small ? "h-6 px-1.5 text-xs" : "h-8 px-2.5 text-sm",
        KINDS[kind],
        className,
      )}
    />
  );
}
