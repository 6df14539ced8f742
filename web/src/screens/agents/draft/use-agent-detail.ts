import { useQuery } from "@tanstack/react-query";
import type { AgentDetail } from "../../../../../src/schema/api/agent.ts";
import { api, partOf } from "../../../api/client.ts";

/** An agent with its file and what is known of it; the news stream says when it changed. */
export function useAgentDetail(name: string) {
  return useQuery({
    queryKey: ["agents", "one", name],
    queryFn: () => api.get<AgentDetail>(`/api/agents/${partOf(name)}`),
    // The file may have changed while the page was elsewhere.
    refetchOnMount: "always",
  });
}
