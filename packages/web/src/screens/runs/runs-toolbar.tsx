import { showNumber } from "@retinue/core/show/measures";
import type { SessionGroup } from "@retinue/core/show/standing";
import { join } from "../../ui/class-names.ts";
import { Segmented, Select } from "../../ui/controls.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { GROUPS } from "./group-sessions.ts";
import { PERIODS, type useRunFilters } from "./use-session-list.ts";

type RunsToolbarProps = {
  filters: ReturnType<typeof useRunFilters>;
  counts: Readonly<Record<SessionGroup, number>>;
  /** There are more sessions than were counted. */
  areCountsCut: boolean;
  /** The person is done with typing and wants the list. */
  onLeave: () => void;
};

/** Search and filters of the list. */
export function RunsToolbar({
  filters: { search, since, only, set },
  counts,
  areCountsCut,
  onLeave,
}: RunsToolbarProps) {
  const all = counts.needsYou + counts.running + counts.done;
  const mark = (count: number, isUrgent = false) => (
    <span className={join("figures text-2xs", isUrgent ? "font-semibold text-warn" : "text-ink-3")}>
      {showNumber(count)}
      {areCountsCut && "+"}
    </span>
  );
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
      <Segmented<SessionGroup | "">
        label="Show"
        value={only ?? ""}
        choices={[
          { value: "", name: "All", mark: mark(all) },
          ...GROUPS.map(({ group, name }) => ({
            value: group,
            name,
            mark: mark(counts[group], group === "needsYou" && counts[group] > 0),
          })),
        ]}
        onChange={(value) => set("state", value)}
        className="max-w-full overflow-x-auto max-sm:order-3"
      />
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
