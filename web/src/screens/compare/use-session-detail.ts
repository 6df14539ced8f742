import { useQuery } from "@tanstack/react-query";
import type { SessionDetail } from "../../../../src/schema/api/session.ts";
import { api, partOf } from "../../api/client.ts";

/** How a session stands, without its runs. The news stream says when that is out of date. */
export function useSessionDetail(sessionId: string) {
  return useQuery({
    queryKey: ["sessions", "one", sessionId],
    queryFn: () => api.get<SessionDetail>(`/api/sessions/${partOf(sessionId)}?limit=1`),
    enabled: sessionId !== "",
  });
}
