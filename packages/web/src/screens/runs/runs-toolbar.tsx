import { showNumber } from "@retinue/core/show/measures";
import { join } from "../../ui/class-names.ts";
import { Select } from "../../ui/controls.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { GROUPS, type Group } from "./group-sessions.ts";
import { PERIODS, type useRunFilters } from "./use-session-list.ts";

type CountedFilters = {
  filters: ReturnType<typeof useRunFilters>;
  counts: Readonly<Record<Group, number>>;
  /** There are more sessions than were counted. */
  areCountsCut: boolean;
};

/** Search and filters of the list. */
export function RunsToolbar({
  filters,
  counts,
  areCountsCut,
  onLeave,
}: CountedFilters & {
  /** The person is done with typing and wants the list. */
  onLeave: () => void;
}) {
  const { search, since, set } = filters;
  return (
    <div className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line bg-panel px-4 py-2">
      <SearchBox
        label="Search titles, tasks and answers"
        does="Search sessions"
        around="min-w-44 flex-1 sm:max-w-72"
        value={search}
        onChange={(text) => set("q", text)}
        onLeave={onLeave}
      />
      <GroupSwitch filters={filters} counts={counts} areCountsCut={areCountsCut} />
      <Select
        aria-label="Period"
        value={since}
        onChoose={(value) => set("since", value)}
        className="max-sm:order-2 sm:ml-auto"
      >
        <option value="">Any time</option>
        {Object.entries(PERIODS).map(([word, { name }]) => (
          <option key={word} value={word}>
            {name}
          </option>
        ))}
      </Select>
    </div>
  );
}

function GroupSwitch({ filters: { only, set }, counts, areCountsCut }: CountedFilters) {
  const all = counts.needsYou + counts.running + counts.done;
  const choices: { value: Group | ""; name: string; count: number }[] = [
    { value: "", name: "All", count: all },
    ...GROUPS.map(({ group, name }) => ({ value: group, name, count: counts[group] })),
  ];
  return (
    <fieldset className="flex max-w-full max-sm:order-3 overflow-x-auto rounded-md border border-line-strong p-0.5">
      <legend className="sr-only">Show</legend>
      {choices.map(({ value, name, count }) => (
        <button
          key={name}
          type="button"
          aria-pressed={(only ?? "") === value}
          onClick={() => set("state", value)}
          className={join(
            "inline-flex h-6.5 items-center gap-1.5 rounded px-2 text-sm whitespace-nowrap",
            (only ?? "") === value ? "bg-hover font-medium text-ink" : "text-ink-2 hover:text-ink",
          )}
        >
          {name}
          <span
            className={join(
              "figures text-2xs",
              value === "needsYou" && count > 0 ? "font-semibold text-warn" : "text-ink-3",
            )}
          >
            {showNumber(count)}
            {areCountsCut && "+"}
          </span>
        </button>
      ))}
    </fieldset>
  );
}
