import { Cell } from "../../ui/grid.tsx";

/** The box that ticks a session. The row keeps the focus, so that the keys of the list go on working. */
export function TickBox({ name, isTicked, onTick }: { name: string; isTicked: boolean; onTick: () => void }) {
  return (
    <Cell className="relative z-1 -ml-1 shrink-0">
      <label
        className="grid size-6 cursor-pointer place-items-center"
        title="Tick to compare or delete (Space)"
      >
        <input
          type="checkbox"
          tabIndex={-1}
          aria-label={`Tick ${name}`}
          checked={isTicked}
          onChange={({ currentTarget }) => {
            onTick();
            currentTarget.closest<HTMLElement>("[data-session]")?.focus({ preventScroll: true });
          }}
          className="size-3.5 cursor-pointer accent-accent"
        />
      </label>
    </Cell>
  );
}
