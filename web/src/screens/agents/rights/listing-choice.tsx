import { CircleCheck, CircleHelp, CircleMinus, CircleX } from "lucide-react";
import { type ComponentType, useId } from "react";
import { join } from "../../../ui/join.ts";
import type { Listing } from "./rule-lists.ts";

type Look = { word: string; tone: string; chosen: string; icon: ComponentType<{ className?: string }> };

/** The lists a rule can stand in. */
export const LISTINGS: Readonly<Record<Listing, Look>> = {
  allow: {
    word: "Allow",
    tone: "text-ok",
    chosen: "has-checked:bg-ok-soft has-checked:text-ok",
    icon: CircleCheck,
  },
  ask: {
    word: "Ask",
    tone: "text-warn",
    chosen: "has-checked:bg-warn-soft has-checked:text-warn",
    icon: CircleHelp,
  },
  never: {
    word: "Never",
    tone: "text-bad",
    chosen: "has-checked:bg-bad-soft has-checked:text-bad",
    icon: CircleX,
  },
  none: {
    word: "Unlisted",
    tone: "text-ink-3",
    chosen: "has-checked:bg-hover has-checked:text-ink",
    icon: CircleMinus,
  },
};

/** One of four for one tool: arrows choose, Tab goes to the next tool. */
export function ListingChoice({
  rule,
  listing,
  onChange,
  readOnly,
  canAllow,
}: {
  rule: string;
  listing: Listing;
  onChange: (listing: Listing) => void;
  readOnly: boolean;
  /** Without a list of tools nothing can be added to it. */
  canAllow: boolean;
}) {
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
