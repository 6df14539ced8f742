import type { Started, StartRequest } from "../../../../src/schema/api/session.ts";
import { api } from "../../api/client.ts";
import { renew } from "../../api/queries.ts";

/** Begins a session; resolves to its id as soon as it has begun. */
export async function startSession(request: StartRequest): Promise<string> {
  const { sessionId } = await api.post<Started>("/api/sessions", request);
  void renew({ queryKey: ["sessions"] });
  return sessionId;
}
