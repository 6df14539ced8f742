/** Where an agent is edited; `search` is what the page keeps on the way there. */
export function agentPath(name: string, search = ""): string {
  const kept = new URLSearchParams(search);
  kept.delete("view");
  kept.delete("below");
  const query = kept.toString();
  return `/agents/${encodeURIComponent(name)}${query && `?${query}`}`;
}
