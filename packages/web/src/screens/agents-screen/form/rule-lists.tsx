import type { AgentForm, AgentFormChange } from "@retinue/core/schema/api/agent";
import { CircleMinus } from "lucide-react";
import { useId } from "react";
import { join } from "../../../ui/class-names.ts";
import { VERDICTS } from "../../../ui/rights-table.tsx";
import type { BadgeLook } from "../../../ui/status.tsx";

/** In which of an agent's lists a rule stands. */
export type Listing = "allow" | "ask" | "never" | "none";

type RuleLists = Pick<AgentForm, "tools" | "askTools" | "disallowedTools">;

/** The list of each listing, the strictest last. Null is all that the parent grants: a list that cannot be added to. */
const FIELDS = [
  ["allow", "tools"],
  ["ask", "askTools"],
  ["never", "disallowedTools"],
] as const satisfies [Listing, keyof RuleLists][];

/** The names of the lists, in the order they are shown. */
export const LISTS = ["tools", "askTools", "disallowedTools"] as const satisfies (keyof RuleLists)[];

/** The strictest list that holds a rule, as the rights are read. */
export function findListing(lists: RuleLists, rule: string): Listing {
  return FIELDS.findLast(([, field]) => lists[field]?.includes(rule))?.[0] ?? "none";
}

/** Puts a rule into one list and takes it out of the others; only lists that differ are named. */
export function withListing(lists: RuleLists, rule: string, chosen: Listing): AgentFormChange {
  const changes = FIELDS.flatMap(([listing, field]) => {
    const list = lists[field];
    const isIn = listing === chosen;
    if (list === null || list.includes(rule) === isIn) return [];
    const next = isIn ? [...list, rule] : list.filter((other) => other !== rule);
    return [[field, field === "tools" ? next : orNone(next)]];
  });
  return Object.fromEntries(changes);
}

/** An empty list is a field that the file leaves out. */
export function orNone(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
}

/** Rules that are more than the name of a tool or group: patterns, globs, and unknown names. */
export function patternRules(
  lists: RuleLists,
  known: ReadonlySet<string>,
): { rule: string; listing: Listing }[] {
  return FIELDS.flatMap(([listing, field]) =>
    (lists[field] ?? []).filter((rule) => !known.has(rule)).map((rule) => ({ rule, listing })),
  );
}

/** The lists a rule can stand in, with the looks of what they decide. */
export const LISTINGS: Readonly<Record<Listing, BadgeLook & { chosen: string }>> = {
  allow: { ...VERDICTS.allow, word: "Allow", chosen: "has-checked:bg-ok-soft has-checked:text-ok" },
  ask: { ...VERDICTS.ask, word: "Ask", chosen: "has-checked:bg-warn-soft has-checked:text-warn" },
  never: { ...VERDICTS.deny, word: "Never", chosen: "has-checked:bg-bad-soft has-checked:text-bad" },
  none: {
    word: "Unlisted",
    tone: "text-ink-3",
    icon: CircleMinus,
    chosen: "has-checked:bg-hover has-checked:text-ink",
  },
};

type ListingChoiceProps = {
  rule: string;
  listing: Listing;
  onChange: (listing: Listing) => void;
  readOnly: boolean;
  /** Without a list of tools nothing can be added to it. */
  canAllow: boolean;
};

/** One of four for one tool: arrows choose, Tab goes to the next tool. */
export function ListingChoice({ rule, listing, onChange, readOnly, canAllow }: ListingChoiceProps) {
  const name = useId();
  return (
    <fieldset
      disabled={readOnly}
      className="inline-flex shrink-0 overflow-hidden rounded-md border border-line-strong bg-panel"
    >
      <legend className="sr-only">{rule}</legend>
      {(Object.keys(LISTINGS) as Listing[]).map((value) => {
        const { word, chosen, icon: Icon } = LISTINGS[value];
        const isOff = value === "allow" && !canAllow;
        return (
          <label
            key={value}
            title={isOff ? "It may use everything its parent grants." : undefined}
            className={join(
              "relative flex h-6 items-center gap-1 border-line px-1.5 text-2xs font-medium text-ink-3 not-last:border-r has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent",
              chosen,
              isOff ? "hidden" : readOnly ? "not-has-checked:hidden" : "cursor-pointer hover:text-ink",
            )}
          >
            <input
              type="radio"
              name={name}
              className="sr-only"
              checked={listing === value}
              disabled={isOff}
              onChange={() => onChange(value)}
            />
            {listing === value && <Icon aria-hidden className="size-3" />}
            {value === "none" && !canAllow ? "As granted" : word}
          </label>
        );
      })}
    </fieldset>
  );
}
