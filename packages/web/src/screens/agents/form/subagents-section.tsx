import type { AgentForm } from "@retinue/core/schema/api/agent";
import { useAgents } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { AgentMark } from "../../../ui/face.tsx";
import { ChoiceField, type Option } from "../controls/choosers.tsx";
import { FormSection, NumberField, Toggle } from "../controls/fields.tsx";
import { type NameLook, NamePicker } from "../controls/name-picker.tsx";
import { useAgentDraft, useForm } from "../use-agent-draft.tsx";

type Policy = NonNullable<AgentForm["subagents"]>;

const NEW_POLICY: Policy = { allow: [], deny: [], execution: "parallel", maxConcurrent: 5, recursive: false };

const MODES: readonly Option<Policy["execution"]>[] = [
  { value: "parallel", label: "Side by side", about: "Results come together." },
  {
    value: "parallel_streaming",
    label: "Side by side, streaming",
    about: "Each result comes as it is there.",
  },
  { value: "sequential", label: "One after the other" },
];

/** Whom it may delegate to, and how. */
export function SubagentsSection() {
  const { form, change, readOnly } = useForm("subagents");
  const { subagents: policy } = form;
  return (
    <FormSection title="Sub-agents">
      <Toggle
        label="May delegate"
        about="Off: it works alone."
        isOn={policy !== null}
        readOnly={readOnly}
        onChange={(isOn) => change({ subagents: isOn ? NEW_POLICY : null })}
      />
      {policy && <PolicyFields policy={policy} />}
    </FormSection>
  );
}

function PolicyFields({ policy }: { policy: Policy }) {
  const { form, change, readOnly } = useForm("name");
  const { names, findNameLook } = useAgentLooks(form.name);
  const set = (part: Partial<Policy>) => change({ subagents: { ...policy, ...part } });
  return (
    <>
      <NamePicker
        label="May delegate to"
        names={policy.allow}
        choices={names}
        findNameLook={findNameLook}
        isOpen
        readOnly={readOnly}
        placeholder="Add an agent"
        onChange={(allow) => set({ allow })}
        hint="A name, or a pattern such as team-*. The star alone means everyone."
      />
      <NamePicker
        label="Never to"
        names={policy.deny}
        choices={names}
        findNameLook={(name) => ({ ...findNameLook(name), warning: null })}
        isOpen
        readOnly={readOnly}
        placeholder="Add an agent"
        onChange={(deny) => set({ deny })}
      />
      <div className="grid gap-3 @md:grid-cols-2">
        <ChoiceField
          label="Several at once"
          value={policy.execution}
          options={MODES}
          readOnly={readOnly}
          onChange={(execution) => set({ execution })}
        />
        <NumberField
          label="At most at once"
          whole
          least={1}
          readOnly={readOnly}
          value={policy.maxConcurrent}
          onChange={(most) => set({ maxConcurrent: most ?? NEW_POLICY.maxConcurrent })}
        />
      </div>
      <Toggle
        label="Recursive"
        about="It may come up again below itself."
        isOn={policy.recursive}
        readOnly={readOnly}
        onChange={(recursive) => set({ recursive })}
      />
    </>
  );
}

/** Every agent that can be named, and what to say beside it. */
function useAgentLooks(self: string): { names: string[]; findNameLook: (name: string) => NameLook } {
  const { data } = useAgents();
  const review = useSignal(useAgentDraft().review);
  const cards = data?.agents.filter(({ state }) => state === "enabled" || state === "disabled") ?? [];
  const known = new Map(cards.flatMap((card) => [card.name, ...card.aliases].map((name) => [name, card])));
  const circular = new Set(
    review?.graph.edges.filter(({ from, isInCycle }) => from === self && isInCycle).map(({ to }) => to),
  );
  const builtIns = ["general-purpose"];
  const findNameLook = (name: string): NameLook => {
    const card = known.get(name);
    const isKnown = card !== undefined || name.includes("*") || builtIns.includes(name);
    const warning = circular.has(name)
      ? "circular"
      : !isKnown && data
        ? "unknown"
        : card?.state === "disabled"
          ? "disabled"
          : null;
    return {
      warning,
      ...(card && { mark: <AgentMark name={card.name} size="sm" />, about: card.description }),
    };
  };
  return { names: [...cards.map(({ name }) => name), ...builtIns, "*"], findNameLook };
}
