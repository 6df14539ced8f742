import type { LanguageModelV4Message } from "@ai-sdk/provider";
import { decide } from "../rights/decide.ts";
import { transcriptOf } from "../run/compact.ts";
import type { Delegations } from "../run/delegations.ts";
import { nameDeliverable } from "../run/deliverables.ts";
import { loadPrompt } from "../run/load-prompt.ts";
import type { HandedFile } from "../run/ports.ts";
import type { Profile, Run } from "../run/run.ts";
import type { ContextMode } from "../schema/agent.ts";
import type { DelegationRequest } from "../schema/delegation.ts";
import type { RunResult } from "../schema/result.ts";
import type { AnyTool } from "../tools/tool.ts";
import { excerpt } from "../tools/truncate.ts";
import { resultText } from "./result-text.ts";

const ISOLATED = new URL("./prompts/isolated.md", import.meta.url);
const MAX_FULL_CHARS = 100_000;
const MAX_PART_CHARS = 20_000;
const DEFAULT_LAST_MESSAGES = 6;

/** A run that delegates, with what its children can be told of it. */
type Asker = {
  readonly parent: Run;
  readonly delegations: Delegations;
  summary(): Promise<string>;
};

/** What a child's first message is made of. */
type Parts = {
  children: Asker;
  request: DelegationRequest;
  profile: Profile;
  context: ContextMode;
  /** What other children found and this one builds on. */
  results: readonly RunResult[];
  /** What it is handed over. */
  files: readonly HandedFile[];
};

/** The first message of a child: its task, what success means, and exactly the context it was given. */
export async function childMessage(parts: Parts): Promise<string> {
  const { children, request, profile, context, results, files } = parts;
  const run = children.parent;
  const { escapeText } = run.host.guards;
  const isApart = profile.agent.workspace === "isolated";
  const sections = [request.task];
  if (request.successCriteria) sections.push(`## Success criteria\n${request.successCriteria}`);
  const promised = [...profile.agent.deliverables, ...(request.deliverables ?? [])];
  if (promised.length > 0) {
    const list = promised.map((one) => `- \`${nameDeliverable(one)}\``).join("\n");
    sections.push(
      `## You must leave\n${list}\nThe host checks this after you report. Paths without the prefix project: are in your workspace, where file tools reach them as workspace:PATH.`,
    );
  }
  if (request.cwd !== undefined)
    sections.push(
      `Work in the folder \`${request.cwd}\`: relative paths begin there; \`project:PATH\` begins at the top of the project.`,
    );
  if (isApart) sections.push(loadPrompt(ISOLATED));
  if (files.length > 0) sections.push(describeFiles(files, escapeText));
  const background = await backgroundOf(children, profile, request, context);
  if (background) sections.push(`<context mode="${context}">\n${escapeText(background)}\n</context>`);
  const reader = { escapeText, workspaceDir: isApart ? null : run.workspaceDir };
  const texts = results.map((one) => resultText(one, reader, children.delegations.findTaskId(one)));
  if (texts.length > 0) sections.push(`## Results this builds on\n${texts.join("\n")}`);
  return sections.join("\n\n");
}

async function backgroundOf(
  children: Asker,
  profile: Profile,
  request: DelegationRequest,
  context: ContextMode,
): Promise<string> {
  const { history } = children.parent;
  if (context === "task_only") return "";
  if (context === "summary") return children.summary();
  const free = findShared(profile, children);
  const answered = answeredCalls(history);
  const usable = (message: LanguageModelV4Message) => onlyTools(message, free, answered);
  if (context === "full")
    return excerpt(
      transcriptOf(history.map(usable), MAX_PART_CHARS),
      MAX_FULL_CHARS,
      "the middle is left out",
    );
  const hasOther = request.contextFiles?.length || request.fromResults?.length;
  const asked = request.lastMessages ?? (hasOther ? 0 : DEFAULT_LAST_MESSAGES);
  return asked > 0 ? transcriptOf(history.slice(1).slice(-asked).map(usable)) : "";
}

/**
 * Tools whose results the child may see: all but those that a rule of its own keeps from it, in whole or for some places. A
 * tool that it merely was not given is no secret to it.
 */
function findShared({ chain }: Profile, { parent }: Pick<Asker, "parent">): ReadonlySet<string> {
  const above = new Set(parent.chain);
  const own = chain.filter((layer) => !above.has(layer));
  const isDivided = ({ name, groups }: AnyTool) =>
    own.some(({ allow = [], ask, deny }) =>
      [...allow, ...ask, ...deny].some(
        ({ tool, pattern, except }) =>
          (pattern !== undefined || except !== undefined) && (tool === name || groups.includes(tool)),
      ),
    );
  const shared = [...parent.host.tools.values()].filter((tool) => {
    const { verdict, rule } = decide(chain, { tool: tool.name, groups: tool.groups, targets: [] });
    const isMissing = verdict === "deny" && rule === undefined;
    return (verdict === "allow" || isMissing) && !isDivided(tool);
  });
  return new Set(shared.map((tool) => tool.name));
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

/** Drops calls and results that a rule keeps from the child, except for delegations. */
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

/** Reads the files that a delegation hands over, if the parent or the child may read them. Throws for one that cannot be. */
export async function readContextFiles(
  { parent }: Pick<Asker, "parent">,
  profile: Profile,
  names: readonly string[],
): Promise<HandedFile[]> {
  const { host, session } = parent;
  // What tools saved may still be on its way to the workspace.
  if (names.length > 0) await session.flushObserved();
  const live = host.liveLayers(parent.projectDir, []);
  const chains = [parent.chain, profile.chain].map((chain) => [...chain, ...live]);
  return Promise.all(names.map((name) => host.workplace.readHanded(parent, chains, name)));
}

function describeFiles(files: readonly HandedFile[], escapeText: (text: string) => string): string {
  const blocks = files.map(
    ({ name, text }) => `<file path="${escapeText(name).replaceAll('"', "")}">\n${escapeText(text)}\n</file>`,
  );
  return `## Files to look at first\n${blocks.join("\n")}`;
}
