import type { KeyboardEvent, PointerEvent } from "react";
import { join } from "../../ui/class-names.ts";

/** What a splitter needs to know. */
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

const STEP_PX = 24;

/** A line between two parts that can be moved, by pointer and by keyboard. */
export function Splitter({ label, width, least, most, isRight = false, onChange, className }: SplitterProps) {
  const set = (wanted: number) => onChange(Math.round(Math.min(most, Math.max(least, wanted))));
  const onPointerDown = (event: PointerEvent<HTMLElement>) => {
    event.preventDefault();
    const fromPx = event.clientX;
    const target = event.currentTarget;
    target.setPointerCapture(event.pointerId);
    const onMove = (move: globalThis.PointerEvent) =>
      set(width + (isRight ? fromPx - move.clientX : move.clientX - fromPx));
    const onUp = () => {
      target.removeEventListener("pointermove", onMove);
      target.removeEventListener("pointerup", onUp);
      target.removeEventListener("pointercancel", onUp);
    };
    target.addEventListener("pointermove", onMove);
    target.addEventListener("pointerup", onUp);
    target.addEventListener("pointercancel", onUp);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowLeft" ? -STEP_PX : event.key === "ArrowRight" ? STEP_PX : 0;
    if (step === 0) return;
    event.preventDefault();
    event.stopPropagation();
    set(width + (isRight ? -step : step));
  };
  return (
    <hr
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onPointerDown={onPointerDown}
      onKeyDown={onKeyDown}
      className={join(
        "m-0 h-auto w-2 shrink-0 cursor-col-resize touch-none border-0 bg-clip-content px-[3.5px] hover:bg-accent focus-visible:bg-accent",
        className,
      )}
    />
  );
}
