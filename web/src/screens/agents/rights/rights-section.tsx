import { useRef } from "react";
import { useTools } from "../../../api/queries.ts";
import { Toggle } from "../controls/toggle.tsx";
import { useForm } from "../draft/use-draft.tsx";
import { FormSection } from "../form/form-section.tsx";
import { PatternRules } from "./pattern-rules.tsx";
import { RuleChip } from "./rule-chip.tsx";
import { RuleInput } from "./rule-input.tsx";
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

function Grants() {
  const { form, change, readOnly } = useForm("tools", "grants");
  const { data } = useTools();
  const { grants } = form;
  const known = new Set([...(data?.tools ?? []).map(({ name }) => name), ...(data?.groups ?? [])]);
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
