import { partOf } from "../../api/client.ts";

/** Where an agent is edited; `search` is what the page keeps on the way there. */
export function agentPath(name: string, search = ""): string {
  const kept = new URLSearchParams(search);
  kept.delete("view");
  kept.delete("below");
  const query = kept.toString();
  return `/agents/${partOf(name)}${query && `?${query}`}`;
}
