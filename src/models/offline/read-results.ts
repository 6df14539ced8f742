/** A child's result as its parent reads it back out of the conversation. */
export type ChildResult = {
  taskId?: string;
  agent: string;
  success: boolean;
  partial: boolean;
  summary: string;
  details: string;
  files: readonly string[];
  /** What it hands over besides words. */
  data?: unknown;
  error?: string;
};

const BLOCK = /<subagent_result ([^>]*)>\n([\s\S]*?)\n<\/subagent_result>/g;

/** The results in a text, in the order they stand. One that was cut gives what can still be read of it. */
export function readResults(text: string): ChildResult[] {
  return [...text.matchAll(BLOCK)].map(([, attributes = "", body = ""]) =>
    readResult(attributes, body.replaceAll("&lt;", "<")),
  );
}

function readResult(attributes: string, body: string): ChildResult {
  const attribute = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1];
  const [words = "", measured = ""] = body.split(/\n*^\[measured\]$\n?/m);
  const details = words.split("\n").slice(2).join("\n").trim();
  const line = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(measured)?.[1];
  const taskId = attribute("task_id");
  const error = line("error")?.replace(/^\w+: /, "");
  const partial = attribute("partial") === "true";
  const data = parseData(line("data"), details);
  return {
    agent: attribute("agent") ?? "",
    ...(taskId !== undefined && { taskId }),
    success: attribute("status") === "completed" && !partial,
    partial,
    summary: readSummary(details) || error || "",
    details: details || error || "",
    files: ["created", "modified"].flatMap((kind) => line(`files ${kind}`)?.split(", ") ?? []),
    ...(data !== undefined && { data }),
    ...(error !== undefined && { error }),
  };
}

/** The first paragraph of an answer. */
function readSummary(details: string): string {
  return details.split(/\n\s*\n/)[0]?.trim() ?? "";
}

/** Data stand in a line of their own, or are the answer itself. */
function parseData(line: string | undefined, details: string): unknown {
  const text = line ?? /```json\n([\s\S]*?)\n```/.exec(details)?.[1] ?? details;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
