import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { openForReading } from "../../files/open-inside.ts";
import { pathTarget } from "../../files/resolve-path.ts";
import { nameOf } from "../../loop/deliverables.ts";
import { loadPrompt } from "../../loop/load-prompt.ts";
import type { Run } from "../../loop/run.ts";
import { transcriptOf } from "../../loop/summarise.ts";
import { decide } from "../../permissions/decide.ts";
import type { ContextMode } from "../../schema/agent.ts";
import type { DelegationRequest } from "../../schema/delegation.ts";
import { messageOf } from "../../schema/error.ts";
import type { RunResult } from "../../schema/result.ts";
import type { Layer } from "../../schema/rights.ts";
import { excerpt } from "../../tools/truncate.ts";
import type { Profile } from "../runs/profile.ts";
import type { Children } from "./children.ts";
import { resultText } from "./result-text.ts";

const ISOLATED = new URL("./prompts/isolated.md", import.meta.url);
const MAX_FILE_CHARS = 20_000;
const MAX_FILE_BYTES = 5_000_000;
const MAX_FULL_CHARS = 100_000;
const MAX_PART_CHARS = 20_000;
const DEFAULT_LAST_MESSAGES = 6;

/** What a child's first message is made of. */
type Parts = {
  children: Children;
  request: DelegationRequest;
  profile: Profile;
  context: ContextMode;
  /** What other children found and this one builds on. */
  results: readonly RunResult[];
};

/** The first message of a child: its task, what success means, and exactly the context it was given. */
export async function childMessage({ children, request, profile, context, results }: Parts): Promise<string> {
  const { escapeText } = children.parent.session.ports.guards;
  const sections = [request.task];
  if (request.successCriteria) sections.push(`## Success criteria\n${request.successCriteria}`);
  const promised = [...profile.agent.deliverables, ...(request.deliverables ?? [])];
  if (promised.length > 0) {
    const list = promised.map((one) => `- \`${nameOf(one)}\``).join("\n");
    sections.push(
      `## You must leave\n${list}\nThe host checks this after you report. Paths without the prefix project: are in your workspace, where file tools reach them as workspace:PATH.`,
    );
  }
  if (request.cwd !== undefined)
    sections.push(
      `Work in the folder \`${request.cwd}\`: relative paths begin there; \`project:PATH\` begins at the top of the project.`,
    );
  if (profile.agent.workspace === "isolated") sections.push(loadPrompt(ISOLATED));
  if (request.contextFiles?.length)
    sections.push(await contextFiles(children, profile, request.contextFiles));
  const background = await backgroundOf(children, profile, request, context);
  if (background) sections.push(`<context mode="${context}">\n${escapeText(background)}\n</context>`);
  if (results.length > 0)
    sections.push(
      `## Results this builds on\n${results.map((one) => resultText(one, escapeText, children.delegations.findTaskId(one))).join("\n")}`,
    );
  return sections.join("\n\n");
}

async function backgroundOf(
  children: Children,
  profile: Profile,
  request: DelegationRequest,
  context: ContextMode,
): Promise<string> {
  const { run } = children.parent;
  const free = freelyUsed(profile);
  const answered = answeredCalls(run.history);
  const usable = (message: LanguageModelV4Message) => onlyTools(message, free, answered);
  if (context === "summary") return children.summary();
  if (context === "full")
    return excerpt(
      transcriptOf(run.history.map(usable), MAX_PART_CHARS),
      MAX_FULL_CHARS,
      "the middle is left out",
    );
  const asked =
    request.lastMessages ??
    (request.contextFiles?.length || request.fromResults?.length ? 0 : DEFAULT_LAST_MESSAGES);
  if (context === "selective" && asked > 0)
    return transcriptOf(run.history.slice(1).slice(-asked).map(usable));
  return "";
}

/** Tools the child may use on anything; of those it holds only for some places, results could tell of the others. */
function freelyUsed({ tools, chain }: Profile): ReadonlySet<string> {
  const free = [...tools.values()].filter(
    (tool) => decide(chain, { tool: tool.name, groups: tool.groups, targets: [] }).verdict === "allow",
  );
  return new Set(free.map((tool) => tool.name));
}

/** What a coordinator did was to delegate: its children's results are its history. */
const DELEGATING: ReadonlySet<string> = new Set([
  "delegate",
  "delegate_to_agent",
  "Task",
  "delegate_many",
  "collect_results",
]);

/** Calls that have their answer; the one that makes this child has none. */
function answeredCalls(history: readonly LanguageModelV4Message[]): ReadonlySet<string> {
  return new Set(
    history.flatMap((message) =>
      message.role === "tool"
        ? message.content.flatMap((part) => (part.type === "tool-result" ? part.toolCallId : []))
        : [],
    ),
  );
}

/** Drops calls and results of tools that the child may not use itself, except for delegations. */
function onlyTools(
  message: LanguageModelV4Message,
  tools: ReadonlySet<string>,
  answered: ReadonlySet<string>,
): LanguageModelV4Message {
  if (message.role === "tool") {
    return {
      ...message,
      content: message.content.filter(
        (part) => part.type === "tool-result" && (tools.has(part.toolName) || DELEGATING.has(part.toolName)),
      ),
    };
  }
  if (message.role === "assistant") {
    return {
      ...message,
      content: message.content.filter(
        (part) =>
          part.type === "text" ||
          (part.type === "tool-call" &&
            (tools.has(part.toolName) || (DELEGATING.has(part.toolName) && answered.has(part.toolCallId)))),
      ),
    };
  }
  return message;
}

/** Files whose content is handed over, if the parent or the child may read them. */
async function contextFiles(children: Children, profile: Profile, paths: readonly string[]): Promise<string> {
  const { run, session } = children.parent;
  const { guards, liveLayer } = session.ports;
  const { escapeText } = guards;
  // What tools saved may still be on its way to the workspace.
  await session.observations.flush();
  const revoked = liveLayer();
  const chains = [run.spec.chain, profile.chain].map((chain) => (revoked ? [...chain, revoked] : chain));
  const blocks = await Promise.all(
    paths.map(async (path) => {
      const text = await readAllowed(run, chains, path).catch(
        (thrown) => `[not readable: ${messageOf(thrown)}]`,
      );
      return `<file path="${escapeText(path).replaceAll('"', "")}">\n${escapeText(text)}\n</file>`;
    }),
  );
  return `## Files to look at first\n${blocks.join("\n")}`;
}

async function readAllowed(run: Run, chains: readonly (readonly Layer[])[], path: string): Promise<string> {
  const target = await pathTarget(path, "read", run.spec);
  if (target.kind !== "path" || target.root === "outside") return "[outside the project and the workspace]";
  const may = (chain: readonly Layer[]) =>
    decide(chain, { tool: "read", groups: ["filesystem"], targets: [target] }).verdict === "allow";
  if (!chains.some(may)) return "[neither you nor your parent may read it]";
  const root = target.root === "project" ? run.spec.projectDir : run.spec.workspaceDir;
  const handle = await openForReading(root, target.path);
  try {
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES) return `[${size} bytes: too large to hand over]`;
    return excerpt(await handle.readFile("utf8"), MAX_FILE_CHARS, `the rest is in ${path}`);
  } finally {
    await handle.close();
  }
}
