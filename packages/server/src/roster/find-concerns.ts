import { buildChain, type ExplainedProject, explainTools } from "@retinue/builtin/explain-rights";
import type { Agent } from "@retinue/core/schema/agent";
import type { AnyTool } from "@retinue/core/tools/tool";

/** Names of agents that are expected to look and change nothing. */
const LOOKS =
  /review|audit|analy[sz]|inspect|read|research|explor|investigat|scout|critic|observ|search|summar|explain/i;
/** Words of a description of an agent that does more than look. */
const ACTS =
  /\b(?:writes?|implements?|fix(?:es)?|edits?|refactors?|creates?|generates?|updates?|builds?|repairs?|sends?)\b/i;
const TESTS = /\btests?\b|\btester\b/i;
/** Tools that change something. */
const TOUCHING = ["shell", "write", "edit", "git_commit"];
const MOST_NAMED = 5;

/** What catches the eye about an agent's rights, each in one sentence. */
export function findConcerns(agent: Agent, project: ExplainedProject, tools: readonly AnyTool[]): string[] {
  const rows = explainTools(buildChain([agent], project));
  const held = new Map(rows.filter((row) => row.verdict !== "deny").map((row) => [row.tool, row]));
  const holds = (name: string): boolean => held.has(name);
  return [
    ...readOnlyLooks(agent, holds),
    ...readsAndActs(tools, holds),
    ...writesBeyondTests(agent, held.get("write")?.verdict),
    ...givesMore(agent),
    ...(agent.tools === undefined
      ? ["It names no tools, so it gets everything that its parent grants."]
      : []),
  ];
}

function readOnlyLooks(
  { name, displayName, description }: Agent,
  holds: (tool: string) => boolean,
): string[] {
  const byName = LOOKS.test(name) || LOOKS.test(displayName);
  const byDescription = LOOKS.test(description) && !ACTS.test(description);
  const touching = TOUCHING.filter(holds);
  if ((!byName && !byDescription) || touching.length === 0) return [];
  const why = byName ? "by its name" : "by its description";
  return [`It looks read-only ${why}, but holds ${listed(touching)}.`];
}

function readsAndActs(tools: readonly AnyTool[], holds: (tool: string) => boolean): string[] {
  const untrusted = tools.filter((tool) => tool.untrusted && holds(tool.name)).map(({ name }) => name);
  const outbound = tools
    .filter((tool) => tool.outbound !== false && holds(tool.name))
    .map(({ name }) => name);
  if (untrusted.length === 0 || outbound.length === 0) return [];
  return [
    `It reads text from outside (${listed(untrusted)}) and can act outside (${listed(outbound)}), so what it reads may try to steer what it sends.`,
  ];
}

function writesBeyondTests({ name, description }: Agent, write: string | undefined): string[] {
  const isAboutTests = TESTS.test(name) || (TESTS.test(description) && /\bwrites?\b/i.test(description));
  const isMore = /\b(?:implements?|features?|fix(?:es)?|refactors?)\b/i.test(description);
  if (!isAboutTests || isMore || (write !== "allow" && write !== "ask")) return [];
  return [
    "Its description speaks of tests, but it may write everywhere; a rule such as write(test/**) would hold it to them.",
  ];
}

function givesMore({ tools, grants, subagents }: Agent): string[] {
  if (!grants || !subagents || !tools) return [];
  if (grants.includes("*"))
    return ["It may pass on every right that the layers above leave, also what it does not use itself."];
  const more = grants.filter((rule) => !tools.includes(rule));
  return more.length > 0 ? [`It may pass on what it does not use itself: ${listed(more)}.`] : [];
}

function listed(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  const shown = names.slice(0, MOST_NAMED);
  if (more > 0) return `${shown.join(", ")} and ${more} more`;
  return shown.length < 2 ? shown.join("") : `${shown.slice(0, -1).join(", ")} and ${shown.at(-1)}`;
}
