import type { PointerEvent } from "react";
import { actOnKey } from "../../frame/shortcuts.ts";
import { join } from "../../ui/class-names.ts";

type SplitterProps = {
  label: string;
  /** Width of the part that it changes. */
  width: number;
  least: number;
  most: number;
  /** Whether that part is to its right. */
  isRight?: boolean;
  onChange: (width: number) => void;
  className?: string;
};

/** Tells where the pointer is, from where it was pressed until it is let go, wherever it is moved meanwhile. */
export function followPointer(
  event: PointerEvent<HTMLElement>,
  follow: (at: { clientX: number }) => void,
): void {
  event.preventDefault();
  const { currentTarget: block, pointerId } = event;
  block.setPointerCapture(pointerId);
  const pressed = new AbortController();
  const letGo = () => pressed.abort();
  block.addEventListener("pointermove", follow, { signal: pressed.signal });
  block.addEventListener("pointerup", letGo, { signal: pressed.signal });
  block.addEventListener("pointercancel", letGo, { signal: pressed.signal });
}

const STEP_PX = 24;

/** A line between two parts that can be moved, by pointer and by keyboard. */
export function Splitter({ label, width, least, most, isRight = false, onChange, className }: SplitterProps) {
  const set = (wanted: number) => onChange(Math.round(Math.min(most, Math.max(least, wanted))));
  const towardsRight = isRight ? -STEP_PX : STEP_PX;
  return (
    <hr
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onPointerDown={(event) => {
        const fromPx = event.clientX;
        followPointer(event, ({ clientX }) => set(width + (isRight ? fromPx - clientX : clientX - fromPx)));
      }}
      onKeyDown={(event) =>
        actOnKey(event, [
          ["ArrowLeft", () => set(width - towardsRight)],
          ["ArrowRight", () => set(width + towardsRight)],
        ])
      }
      className={join(
        "m-0 h-auto w-2 shrink-0 cursor-col-resize touch-none border-0 bg-clip-content px-[3.5px] hover:bg-accent focus-visible:bg-accent",
        className,
      )}
    />
  );
}
