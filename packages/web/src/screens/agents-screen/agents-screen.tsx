import { useParams, useSearchParams } from "wouter";
import { useTabTitle } from "../../frame/places.ts";
import { join } from "../../ui/class-names.ts";
import { AgentListPane } from "./agent-list.tsx";
import { AllAgentsGraph } from "./all-agents-graph.tsx";
import { AgentEditor } from "./editor/agent-editor.tsx";
import { NewAgent } from "./editor/new-agent.tsx";

/** The agents: a list, beside it the one that is open, a new one, or the graph of all. */
export default function AgentsScreen() {
  const { name } = useParams<{ name?: string }>();
  const [params] = useSearchParams();
  useTabTitle(name === undefined ? "Agents" : name === "new" ? "New agent" : name);
  const isOnTop = name !== undefined || params.get("view") === "graph";
  return (
    <div className="flex min-h-0 flex-1">
      <section
        aria-label="List of agents"
        className={join(
          "min-h-0 w-full flex-col border-line lg:flex lg:w-72 lg:shrink-0 lg:border-r",
          isOnTop ? "hidden" : "flex",
        )}
      >
        <AgentListPane opened={name ?? null} isBeside={isOnTop} />
      </section>
      <div className={join("min-h-0 min-w-0 flex-1 flex-col lg:flex", isOnTop ? "flex" : "hidden")}>
        {name === undefined ? (
          <AllAgentsGraph isOnTop={isOnTop} />
        ) : name === "new" ? (
          <NewAgent />
        ) : (
          <AgentEditor key={name} name={name} />
        )}
      </div>
    </div>
  );
}
