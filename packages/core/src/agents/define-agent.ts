import type {
  Agent,
  AgentSource,
  ContextWord,
  Deliverable,
  Limits,
  Problem,
  RetryPolicy,
  SubagentPolicy,
} from "../schema/agent.ts";
import type { SimpleFields } from "../schema/agent-fields.ts";
import { RetinueError } from "../schema/error.ts";
import { type AgentReading, readAgent } from "./fields/read-agent.ts";
import type { KnownTools } from "./fields/tool-names.ts";

/** A list of names, or one line with commas. */
export type NameList = readonly string[] | string;

/** A trigger as it is written; several words may share what must and must not stand beside them. */
export type TriggerInput = { word: NameList; with?: NameList; not?: NameList };

/** An agent as it is written in code; only name, description and prompt are required. */
export type AgentInput = Partial<Omit<SimpleFields, "context">> & {
  name: string;
  description: string;
  prompt: string;
  aliases?: NameList;
  model?: string;
  tools?: NameList;
  askTools?: NameList;
  disallowedTools?: NameList;
  grants?: NameList;
  subagents?: Partial<SubagentPolicy> | readonly string[];
  context?: ContextWord;
  limits?: Limits;
  delegation?: { mandatory?: boolean; triggers?: readonly (string | TriggerInput)[] };
  retry?: Partial<RetryPolicy>;
  deliverables?: readonly (Deliverable | string)[];
  display?: Agent["display"] & { name?: string };
};

/** Who hands over a value that did not come from a Markdown file. */
export type ValueOptions = { source?: AgentSource; known?: KnownTools };

const IN_CODE: AgentSource = { format: "code", scope: "code" };

/** Checks an agent given as a plain value, with the same rules as a file; anything but an object is an error. */
export function parseAgentValue(
  value: unknown,
  options: ValueOptions = {},
): Partial<AgentReading> & { problems: Problem[] } {
  const source = options.source ?? IN_CODE;
  const file = source.file ?? "code";
  const problems: Problem[] = [];
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const message = "an agent is an object with name, description and prompt";
    problems.push({ severity: "error", file, line: 0, code: "bad-value", message, fix: "pass an object" });
    return { problems };
  }
  const values = new Map(
    Object.entries(value).filter(([key, each]) => each !== undefined && key !== "__proto__"),
  );
  const ctx = { file, format: source.format, known: options.known ?? {}, findLine: () => 0, problems };
  const prompt = values.get("prompt");
  const body = typeof prompt === "string" ? prompt.trim() : "";
  return { ...readAgent(ctx, { values, prompt: body, fallbackName: "", source }), problems };
}

/** An agent in code. Throws with every problem listed, since in code a warning is a mistake too. */
export function defineAgent(input: AgentInput, options: { known?: KnownTools } = {}): Agent {
  const { agent, problems } = parseAgentValue(input, options);
  const serious = problems.filter(({ severity, code }) => severity !== "info" || code === "unknown-key");
  if (agent !== undefined && serious.length === 0) return agent;
  const list = serious.map(({ message, fix }) => `- ${message} (${fix})`).join("\n");
  throw new RetinueError(
    "config",
    `the agent ${JSON.stringify(input?.name)} is not valid:\n${list}`,
    "correct the definition",
  );
}
