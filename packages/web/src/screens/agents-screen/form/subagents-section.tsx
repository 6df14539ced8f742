import { AGENT_FIELDS } from "@retinue/core/schema/agent-fields";
import type { AgentForm } from "@retinue/core/schema/api/agent";
import { listPartDefaults } from "@retinue/core/schema/form-fields";
import { useAgents } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { AgentMark } from "../../../ui/face.tsx";
import { FormSection, Toggle } from "../../../ui/fields.tsx";
import { type NameLook, NamePicker } from "../../../ui/name-picker.tsx";
import { useAgentDraft, useForm } from "../use-agent-draft.tsx";
import { PartControls } from "./value-control.tsx";

type Policy = NonNullable<AgentForm["subagents"]>;

const { parts: PARTS } = AGENT_FIELDS.subagents.kind;
const NEW_POLICY: Policy = { allow: [], ...listPartDefaults(PARTS) };

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
        value={policy.allow}
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
        value={policy.deny}
        choices={names}
        findNameLook={(name) => ({ ...findNameLook(name), warning: null })}
        isOpen
        readOnly={readOnly}
        placeholder="Add an agent"
        onChange={(deny) => set({ deny })}
      />
      <div className="grid gap-3 @md:grid-cols-2">
        <PartControls
          parts={PARTS}
          values={policy}
          readOnly={readOnly}
          onChange={(part, value) => set({ [part]: value ?? NEW_POLICY[part as keyof Policy] })}
        />
      </div>
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
