import { createHash } from "node:crypto";

/** Which call it is, in which run of which session. */
export type CallIdentity = { readonly sessionId: string; readonly runId: string; readonly callId: string };

/** A call's own mark, the same whenever the call is made again: 40 hexadecimal digits. */
export function callKey({ sessionId, runId, callId }: CallIdentity): string {
  return createHash("sha256")
    .update(JSON.stringify([sessionId, runId, callId]))
    .digest("hex")
    .slice(0, 40);
}
