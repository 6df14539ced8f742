/** Which of the two sessions something is of. */
export type Letter = "A" | "B";

/** The letter of a side, wherever something of it stands. */
export function SideLetter({ letter }: { letter: Letter }) {
  return (
    <span
      className={
        letter === "A"
          ? "inline-grid size-5 shrink-0 place-items-center rounded bg-ink font-mono text-2xs font-semibold text-panel"
          : "inline-grid size-5 shrink-0 place-items-center rounded border border-ink font-mono text-2xs font-semibold text-ink"
      }
    >
      {letter}
    </span>
  );
}
