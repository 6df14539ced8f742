const AGENT = /"(?:agent|role|subagent_type)"\s*:\s*"((?:[^"\\]|\\.)+)"/g;
const MOST = 300;

/** What matters of a tool call's input in one line: its values, without the names and brackets around them. */
export function summarizeInput(tool: string, input: string): string {
  if (tool === "delegate_many") return agentsIn(input) || firstLine(input);
  try {
    const value: unknown = JSON.parse(input);
    if (typeof value !== "object" || value === null) return String(value);
    return Object.values(value).map(shortValue).join("  ").replaceAll("\n", " ").slice(0, MOST);
  } catch {
    return firstLine(input);
  }
}

/** The beginning of a text, up to the end of its first line. */
export function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0]?.slice(0, MOST) ?? "";
}

function shortValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((part) => typeof part !== "object")) return value.join(", ");
  return JSON.stringify(value);
}

/** Who is asked, however many tasks there are; also of an input that was cut. */
function agentsIn(input: string): string {
  const counts = new Map<string, number>();
  for (const [, agent = ""] of input.matchAll(AGENT)) counts.set(agent, (counts.get(agent) ?? 0) + 1);
  return [...counts].map(([agent, count]) => (count > 1 ? `${count} × ${agent}` : agent)).join(", ");
}
