import type { Runtime } from "../../runtime/runtime.ts";
import type { RetinueEvent } from "../../schema/event.ts";

/** The first line of a stream: what the session begins with. */
export function initMessage(
  event: Extract<RetinueEvent, { type: "run.started" }>,
  { store, agents }: Pick<Runtime, "store" | "agents">,
  about: { cwd: string; permissionMode: string },
): object {
  const agent = agents.get(event.agent);
  const delegation = agent?.subagents ? ["delegate", "delegate_many", "collect_results"] : [];
  return {
    type: "system",
    subtype: "init",
    session_id: event.sessionId,
    cwd: about.cwd,
    model: event.model,
    agent: event.agent,
    tools: [...offeredTools(store, event.messageId), ...delegation],
    agents: agents.list().map((each) => each.name),
    mcp_servers: [],
    permissionMode: about.permissionMode,
  };
}

/** The tools of a run, from the snapshot that its row points to. */
function offeredTools(store: Runtime["store"], messageId: number): string[] {
  const metadata = parsed(store.message(messageId)?.metadata_json ?? "");
  const snapshot = parsed(store.prompt(String(metadata.snapshot ?? "")) ?? "");
  const { tools } = snapshot;
  return Array.isArray(tools) ? tools.filter((name): name is string => typeof name === "string") : [];
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
