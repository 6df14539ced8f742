/** Where something begins and ends in a text. */
export type Range = [start: number, end: number];

/** A list or map in brackets: where it stands, and where each of its items does. */
export type FlowParts = { whole: Range; items: readonly Range[] };

/** Takes one item out, with its comma; in a list of one item per line with its whole line, comment included. */
export function cutFlowItem(text: string, { whole, items }: FlowParts, index: number): string {
  const [start, end] = items[index] ?? [0, 0];
  const before = items[index - 1];
  const after = items[index + 1];
  const close = whole[1] - 1;
  const gap = text.slice(end, after?.[0] ?? close);
  const lead = text.slice(before?.[1] ?? whole[0] + 1, start);
  const cut = (from: number, to: number): string => text.slice(0, from) + text.slice(to);
  if (!gap.includes("\n")) {
    if (after !== undefined) return cut(start, after[0]);
    return before === undefined || lead.includes("\n") ? cut(start, end) : cut(before[1], end);
  }
  const lineBegin = text.lastIndexOf("\n", start - 1) + 1;
  if (lead.includes("\n") && text.slice(lineBegin, start).trim() === "")
    return cut(lineBegin, text.indexOf("\n", end) + 1);
  const comma = /^\s*,/.exec(gap)?.[0].length ?? 0;
  return cut(start - (lead.length - lead.trimEnd().length), end + comma);
}

/** Puts items behind the last one: on lines of their own where that one has its own, else on its line. */
export function addFlowItems(text: string, { whole, items }: FlowParts, sources: readonly string[]): string {
  const put = (at: number, more: string): string => text.slice(0, at) + more + text.slice(at);
  const last = items.at(-1);
  if (last === undefined) return put(whole[0] + 1, sources.join(", "));
  const [start, end] = last;
  const lineBegin = text.lastIndexOf("\n", start - 1) + 1;
  const indent = text.slice(lineBegin, start);
  const rest = text.slice(end, whole[1] - 1);
  if (indent.trim() !== "" || !rest.includes("\n"))
    return put(end, sources.map((source) => `, ${source}`).join(""));
  const hasComma = /^\s*,/.test(rest);
  const lines = sources.map((source, index) => {
    const comma = hasComma || index < sources.length - 1 ? "," : "";
    return `${indent}${source}${comma}\n`;
  });
  const next = text.indexOf("\n", end) + 1;
  return `${text.slice(0, end)}${hasComma ? "" : ","}${text.slice(end, next)}${lines.join("")}${text.slice(next)}`;
}
