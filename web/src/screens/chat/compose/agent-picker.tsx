import { ChevronsUpDown } from "lucide-react";
import { useAgents } from "../../../api/queries.ts";
import { AgentMark } from "../../../ui/face.tsx";

/** Chooses who answers, among the agents that can. */
export function AgentPicker({ agent, onPick }: { agent: string; onPick: (agent: string) => void }) {
  const { data } = useAgents();
  const enabled = data?.agents.filter(({ state }) => state === "enabled") ?? [];
  const isKnown = enabled.some(({ name }) => name === agent);
  return (
    <span className="relative inline-flex h-7 max-w-56 items-center gap-1.5 rounded-md pr-1.5 pl-1 hover:bg-hover has-focus-visible:outline-2 has-focus-visible:outline-accent">
      <AgentMark name={agent} size="sm" />
      <select
        aria-label="Agent"
        value={agent}
        onChange={(event) => onPick(event.target.value)}
        className="field-sizing-content min-w-0 appearance-none truncate bg-transparent pr-4 text-xs font-medium text-ink-2 outline-none"
      >
        {!isKnown && <option value={agent}>{agent}</option>}
        {enabled.map(({ name, displayName }) => (
          <option key={name} value={name} className="bg-panel text-ink">
            {displayName}
          </option>
        ))}
      </select>
      <ChevronsUpDown aria-hidden className="pointer-events-none absolute right-1.5 size-3 text-ink-3" />
    </span>
  );
}
