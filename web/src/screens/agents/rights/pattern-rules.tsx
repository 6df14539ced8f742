import { useState } from "react";
import { useTools } from "../../../api/queries.ts";
import { Choice } from "../controls/choice.tsx";
import { useForm } from "../draft/use-draft.tsx";
import { LISTINGS } from "./listing-choice.tsx";
import { RuleChip } from "./rule-chip.tsx";
import { RuleInput } from "./rule-input.tsx";
import { LISTS, type Listing, patternRules, withListing } from "./rule-lists.ts";

const NEW_LISTINGS = (["allow", "ask", "never"] as const).map((value) => ({
  value,
  label: LISTINGS[value].word,
}));

/** Rules with a pattern, which speak of some calls of a tool only; and names that no tool here has. */
export function PatternRules() {
  const { form, change, readOnly } = useForm(...LISTS);
  const { data } = useTools();
  const [chosen, setListing] = useState<Exclude<Listing, "none">>("allow");
  const known = new Set([...(data?.tools ?? []).map(({ name }) => name), ...(data?.groups ?? [])]);
  const rules = data ? patternRules(form, known) : [];
  // Where everything is granted there is no list to add to.
  const canAllow = form.tools !== null;
  const listing = chosen === "allow" && !canAllow ? "ask" : chosen;
  return (
    <div className="grid gap-2">
      <h3 className="text-xs font-medium text-ink-2">Rules with a pattern</h3>
      <ul aria-label="Rules with a pattern" className="flex flex-wrap gap-1">
        {rules.map(({ rule, listing: list }) => {
          const { icon: Icon, tone, word } = LISTINGS[list];
          return (
            <RuleChip
              key={`${list} ${rule}`}
              rule={rule}
              known={known}
              onRemove={readOnly ? null : () => change(withListing(form, rule, "none"))}
            >
              <span className={`inline-flex items-center gap-0.5 font-medium ${tone}`}>
                <Icon aria-hidden className="size-3" /> {word}
              </span>
            </RuleChip>
          );
        })}
        {rules.length === 0 && <li className="text-xs text-ink-3">None.</li>}
      </ul>
      {!readOnly && (
        <RuleInput
          label="New rule"
          known={known}
          taken={rules.filter((rule) => rule.listing === listing).map(({ rule }) => rule)}
          onAdd={(rule) => change(withListing(form, rule, listing))}
        >
          <div className="w-28">
            <Choice
              label="List"
              isLabelHidden
              value={listing}
              options={NEW_LISTINGS.filter(({ value }) => canAllow || value !== "allow")}
              onChange={setListing}
            />
          </div>
        </RuleInput>
      )}
    </div>
  );
}
