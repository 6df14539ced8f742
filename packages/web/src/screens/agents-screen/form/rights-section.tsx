import { useRef, useState } from "react";
import { useTools } from "../../../data/queries.ts";
import { ChoiceField } from "../../../ui/choosers.tsx";
import { FormSection, Toggle } from "../../../ui/fields.tsx";
import { useForm } from "../use-agent-draft.tsx";
import { RuleChip, RuleInput } from "./rule-input.tsx";
import { LISTINGS, LISTS, type Listing, patternRules, withListing } from "./rule-lists.tsx";
import { ToolTable } from "./tool-table.tsx";

/** What it may use, only after asking, never; and what it may pass on. */
export function RightsSection() {
  const { form, change, readOnly } = useForm("tools");
  const before = useRef<readonly string[]>([]);
  if (form.tools) before.current = form.tools;
  return (
    <FormSection
      title="Rights"
      about="Never beats ask, ask beats allow. Its parents can only narrow what is allowed here."
    >
      <Toggle
        label="Everything its parent grants"
        about={
          form.tools === null
            ? "The file has no list of tools: it may use all that its parent passes on, less what you set below."
            : "Off: it may use only what is listed below."
        }
        isOn={form.tools === null}
        readOnly={readOnly}
        onChange={(isOn) => change({ tools: isOn ? null : before.current })}
      />
      <ToolTable />
      <PatternRules />
      <Grants />
    </FormSection>
  );
}

/** Names of tools and groups that rules can have; none until they are loaded. */
function useKnownNames(): ReadonlySet<string> {
  const { data } = useTools();
  return new Set([...(data?.tools ?? []).map(({ name }) => name), ...(data?.groups ?? [])]);
}

function Grants() {
  const { form, change, readOnly } = useForm("tools", "grants");
  const { grants } = form;
  const known = useKnownNames();
  return (
    <div className="grid gap-2">
      <Toggle
        label="Passes on the same as it may use"
        about="Off: what sub-agents get from it is a list of its own."
        isOn={grants === null}
        readOnly={readOnly}
        onChange={(isOn) => change({ grants: isOn ? null : (form.tools ?? ["*"]) })}
      />
      {grants && (
        <div className="grid gap-2 pl-10.5">
          <ul aria-label="What it passes on" className="flex flex-wrap gap-1">
            {grants.map((rule) => (
              <RuleChip
                key={rule}
                rule={rule}
                known={known}
                onRemove={
                  readOnly ? null : () => change({ grants: grants.filter((other) => other !== rule) })
                }
              />
            ))}
            {grants.length === 0 && <li className="text-xs text-ink-3">Nothing at all.</li>}
          </ul>
          {!readOnly && (
            <RuleInput
              label="Rule to pass on"
              known={known}
              taken={grants}
              onAdd={(rule) => change({ grants: [...grants, rule] })}
            />
          )}
        </div>
      )}
    </div>
  );
}

const NEW_LISTINGS = (["allow", "ask", "never"] as const).map((value) => ({
  value,
  label: LISTINGS[value].word,
}));

/** Rules with a pattern, which speak of some calls of a tool only; and names that no tool here has. */
function PatternRules() {
  const { form, change, readOnly } = useForm(...LISTS);
  const known = useKnownNames();
  const [chosen, setListing] = useState<Exclude<Listing, "none">>("allow");
  const rules = known.size > 0 ? patternRules(form, known) : [];
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
            <ChoiceField
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
