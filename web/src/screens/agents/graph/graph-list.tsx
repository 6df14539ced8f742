import { RefreshCcwDot } from "lucide-react";
import { Link } from "wouter";
import type { DelegationGraph } from "../../../../../src/schema/api/agent.ts";
import { AgentName } from "../../../ui/face.tsx";
import { agentPath } from "../agent-path.ts";

/** The same as the graph, in words: for whoever does not see it, and for searching the page. */
export function GraphList({ graph }: { graph: DelegationGraph }) {
  const targets = Map.groupBy(graph.edges, ({ from }) => from);
  return (
    <ul className="grid gap-1.5">
      {graph.nodes.map(({ name, isEnabled }) => (
        <li key={name} className="flex flex-wrap items-center gap-x-2 gap-y-1 text-sm">
          <AgentLink name={name} />
          {!isEnabled && <span className="text-xs text-ink-3">not in use</span>}
          <span className="text-xs text-ink-3">{targets.has(name) ? "may delegate to" : "works alone"}</span>
          {targets.get(name)?.map(({ to, isInCycle }) => (
            <span key={to} className="inline-flex items-center gap-1">
              <AgentLink name={to} />
              {isInCycle && <CycleWord />}
            </span>
          ))}
        </li>
      ))}
    </ul>
  );
}

/** Circular delegations, spelled out. */
export function CycleList({ cycles }: { cycles: DelegationGraph["cycles"] }) {
  if (cycles.length === 0) return null;
  return (
    <ul className="grid gap-1">
      {cycles.map((cycle) => (
        <li key={cycle.join()} className="flex items-center gap-1.5 text-xs text-bad">
          <RefreshCcwDot aria-hidden className="size-3.5 shrink-0" />
          <span className="min-w-0 wrap-anywhere">Cycle: {[...cycle, cycle[0]].join(" → ")}</span>
        </li>
      ))}
    </ul>
  );
}

function CycleWord() {
  return (
    <span className="inline-flex items-center gap-0.5 text-2xs font-medium text-bad">
      <RefreshCcwDot aria-hidden className="size-3" /> cycle
    </span>
  );
}

function AgentLink({ name }: { name: string }) {
  return (
    <Link href={agentPath(name)} className="inline-flex min-w-0 rounded-md hover:bg-hover">
      <AgentName name={name} size="sm" />
    </Link>
  );
}
