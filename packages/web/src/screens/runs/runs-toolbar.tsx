import { showNumber } from "@retinue/core/show/measures";
import { X } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { join } from "../../ui/class-names.ts";
import { Button, KeyHint, SearchField } from "../../ui/controls.tsx";
import { GROUPS, type Group } from "./group-sessions.ts";
import { PERIODS, type useRunFilters } from "./use-session-list.ts";

const WAIT_MS = 220;

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
      <SearchBox value={search} onChange={(text) => set("q", text)} onLeave={onLeave} />
      <GroupSwitch filters={filters} counts={counts} areCountsCut={areCountsCut} />
      <select
        aria-label="Period"
        value={since}
        onChange={(event) => set("since", event.target.value)}
        className="h-8 rounded-md border border-line-strong bg-panel px-2 text-sm text-ink-2 hover:bg-hover max-sm:order-2 sm:ml-auto"
      >
        <option value="">Any time</option>
        {Object.entries(PERIODS).map(([word, { name }]) => (
          <option key={word} value={word}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}

function SearchBox({
  value,
  onChange,
  onLeave,
}: {
  value: string;
  onChange: (text: string) => void;
  onLeave: () => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    // The address changed by other means, such as Back.
    if (value !== told.current) setText(value);
    told.current = value;
  }, [value]);
  // A layout effect, because a page that is left is only hidden until the next one is loaded.
  useLayoutEffect(() => {
    if (text.trim() === told.current) return;
    const timer = setTimeout(() => {
      told.current = text.trim();
      onChange(text.trim());
    }, WAIT_MS);
    return () => clearTimeout(timer);
  });
  useShortcuts([{ keys: "/", does: "Search sessions", act: () => field.current?.focus() }]);
  return (
    <SearchField
      around="min-w-44 flex-1 sm:max-w-72"
      ref={field}
      aria-label="Search titles, tasks and answers"
      placeholder="Search titles, tasks and answers"
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && text !== "") setText("");
        else if (event.key === "Escape" || event.key === "ArrowDown" || event.key === "Enter") onLeave();
        else return;
        event.preventDefault();
      }}
      className="pr-8 [&::-webkit-search-cancel-button]:hidden"
    >
      <span className="absolute top-1/2 right-1.5 -translate-y-1/2">
        {text === "" ? (
          <span className="pointer-events-none max-sm:hidden">
            <KeyHint keys="/" />
          </span>
        ) : (
          <Button kind="quiet" small aria-label="Clear the search" onClick={() => setText("")}>
            <X className="size-3" />
          </Button>
        )}
      </span>
    </SearchField>
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
