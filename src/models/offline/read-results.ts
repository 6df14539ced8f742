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
  return [...text.matchAll(BLOCK)].map(([, attributes = "", body = ""]) => readResult(attributes, body));
}

function readResult(attributes: string, body: string): ChildResult {
  const attribute = (name: string) => new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1];
  const [said = "", measured = ""] = body.split(/\n*^\[measured\]\n/m).map(unescapeText);
  const line = (name: string) =>
    new RegExp(`^${name}: (.*(?:\\n {2}.*)*)$`, "m").exec(measured)?.[1]?.replaceAll("\n  ", "\n");
  const taskId = attribute("task_id");
  const error = line("error")?.replace(/^\w+(?: \(recoverable\))?: /, "");
  const partial = attribute("partial") === "true";
  // The first line is the host's.
  const details = said.split("\n").slice(1).join("\n").trim() || error || "";
  const data = parseData(line("data"), details);
  return {
    agent: attribute("agent") ?? "",
    ...(taskId !== undefined && { taskId }),
    success: attribute("status") === "completed" && !partial,
    partial,
    summary: details.split(/\n\s*\n/, 1)[0]?.trim() ?? "",
    details,
    files: ["created", "modified"].flatMap((kind) => readNames(line(`files ${kind}`))),
    ...(data !== undefined && { data }),
    ...(error !== undefined && { error }),
  };
}

function unescapeText(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&#91;", "[");
}

/** Names with commas, quotes or spaces stand in quotes. */
function readNames(line = ""): string[] {
  const names = line.replace(/ and \d+ more$/, "").match(/"(?:[^"\\]|\\.)*"|[^\s,]+/g) ?? [];
  return names.map((name) => (name.startsWith('"') ? String(JSON.parse(name)) : name));
}

/** Data stand in a line of their own, or are the answer itself, alone or in a code fence. */
function parseData(line: string | undefined, details: string): unknown {
  const fenced = /^```(?:json)?\n([\s\S]*?)\n```$/.exec(details)?.[1];
  const text = [line, fenced, details].find((one) => one !== undefined && /^\s*[{[]/.test(one));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
