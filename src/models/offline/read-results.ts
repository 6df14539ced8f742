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

const BLOCK = /<subagent_result agent="([^"]*)"[^>]*>\n([\s\S]*?)\n<\/subagent_result>/g;

/** The results in a text, in the order they stand. One that was cut gives what can still be read of it. */
export function readResults(text: string): ChildResult[] {
  return [...text.matchAll(BLOCK)].map(([, agent = "", body = ""]) =>
    resultOf(agent, body.replaceAll("&lt;", "<")),
  );
}

function resultOf(agent: string, body: string): ChildResult {
  const value = parse(body);
  const error = value.error as { message?: unknown } | undefined;
  const summary = textOf(value.summary);
  return {
    agent,
    ...(typeof value.task_id === "string" && { taskId: value.task_id }),
    success: value.success === true,
    partial: value.partial === true,
    summary,
    details: textOf(value.details) || summary,
    files: filesIn(value),
    ...(value.data !== undefined && { data: value.data }),
    ...(error && { error: textOf(error.message) }),
  };
}

/** Files of the child and of all below it, each once. */
function filesIn(value: Record<string, unknown>): string[] {
  const { subtree } = value as { subtree?: Record<string, unknown> };
  const lists = [value, subtree ?? {}].flatMap((one) => [one.files_created, one.files_modified]);
  return [...new Set(lists.flatMap((files) => (Array.isArray(files) ? files.map(String) : [])))];
}

function parse(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    const field = (name: string) =>
      new RegExp(`"${name}": ("(?:[^"\\\\]|\\\\.)*"|true|false)`).exec(body)?.[1];
    const entries = ["task_id", "success", "partial", "summary"].flatMap((name) => {
      const text = field(name);
      return text === undefined ? [] : [[name, JSON.parse(text)] as const];
    });
    return Object.fromEntries(entries);
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
