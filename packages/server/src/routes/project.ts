import { readdir } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { KNOWN_GROUPS } from "@retinue/builtin/built-in-agents";
import { ToolList } from "@retinue/core/schema/api/agent";
import { About, HealthView, StatsView } from "@retinue/core/schema/api/inspect";
import type { Settings } from "@retinue/core/schema/settings";
import { digits, oneOf, shape } from "@retinue/core/schema/shape";
import { STATS_BY, type StatsQuery } from "@retinue/core/schema/stats";
import { functionToolOf } from "@retinue/core/tools/validate-input";
import { readProjectFolder, type ServerDesk } from "../desk.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";
import { describeDelegationTools } from "../roster/try-call.ts";

/** The project: what the app must know at its start, its tools and figures, and whether everything is in place. */
export const projectRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/about",
    summary: "The project, the model and what to begin with.",
    answer: About,
    async handle(_, desk) {
      const project = readProjectFolder(desk);
      return {
        version: desk.version,
        project,
        projectName: basename(project),
        startedAtMs: desk.startedAtMs,
        agent: desk.agent,
        model: await readModel(desk),
        permissionMode: desk.permissionMode,
        examples: await examplesFor(project, desk.project.current().settings),
      };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/tools",
    summary: "Every tool that a rule may name, with the input it takes, and every group.",
    answer: ToolList,
    handle(_, { tools, project }): ToolList {
      const all = [...tools, ...describeDelegationTools(project.current().registry)];
      return {
        tools: all.map((tool) => ({
          name: tool.name,
          groups: tool.groups,
          description: tool.description,
          risk: typeof tool.risk === "function" ? "depends" : tool.risk,
          input: functionToolOf(tool).inputSchema,
        })),
        groups: [...KNOWN_GROUPS],
      };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/stats",
    summary:
      "How often runs of this project succeeded, how long they took and what they spent; also by day (UTC).",
    query: shape({ "since?": digits, "by?": oneOf(...STATS_BY) }),
    answer: StatsView,
    async handle({ query: { since, by } }, desk) {
      const query: StatsQuery = {
        project: readProjectFolder(desk),
        ...(since !== undefined && { sinceMs: Math.min(Number(since), Date.now()) }),
        ...(by !== undefined && { by }),
      };
      return desk.runtime.record.readStats({ ...query, aside: true });
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/health",
    summary: "Looks at everything that a run needs.",
    answer: HealthView,
    async handle(_, { project, checkHealth }) {
      const { problems } = await project.reload();
      return { checks: await checkHealth(), problems };
    },
  }),
];

/** A model that cannot be had now is still the one that was chosen; the health page says what is wrong with it. */
async function readModel({ runtime, agent, model }: ServerDesk): Promise<About["model"]> {
  const name = await runtime.modelOf(agent, model).catch(() => model ?? "none");
  return { name, isOffline: name === "offline" || name.startsWith("offline/") };
}

type Example = About["examples"][number];

const LOOK_AROUND = example(
  "Look around this project",
  "Find where errors are handled and summarise it. Find where input is checked and summarise it. Review the last commit. Ask the assistant to find Acme's people.",
);
const THREE_DOMAINS = example(
  "People, times and mail at once",
  "Find Acme's people, check Tuesday 2pm and list unread mail",
);
const NEEDS_APPROVAL = example(
  "Something that needs your approval",
  'Send an email to ruth.okafor@acme.example saying "Tuesday 2pm works" and check Tuesday 2pm',
);
const READERS = example(
  "Three readers side by side",
  "Find where settings are read and summarise it. Find where files are written and summarise it. Review the last commit.",
);
const MEETING = example("A meeting", "Find Acme's people and check Friday 10am");

/**
 * Requests to begin with. Each does something without a key: the offline model splits it, several agents work at once, and
 * what is for the assistant is handed on. A report needs documents, so there is one only where the settings name some: the
 * project itself, which is searched unless they do, is a folder of code as a rule.
 */
export async function examplesFor(projectDir: string, { search }: Settings): Promise<Example[]> {
  const folders = (search.folders ?? []).map((folder) => resolve(projectDir, folder));
  const topic = await topicIn(folders.filter((folder) => folder !== resolve(projectDir)));
  const report =
    topic === null ? MEETING : example("A report with sources", `Create a comprehensive report on ${topic}`);
  return [LOOK_AROUND, THREE_DOMAINS, report, NEEDS_APPROVAL, READERS];
}

/** Documents in a folder of their own are about what it is called. */
async function topicIn(folders: readonly string[]): Promise<string | null> {
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const found = entries.filter((entry) => entry.isDirectory() && /^\w[\w -]{2,60}$/.test(entry.name));
    const [first] = found.map((entry) => entry.name.replaceAll(/[-_]+/g, " ")).sort();
    if (first !== undefined) return first;
  }
  return null;
}

function example(title: string, task: string): Example {
  return { title, task, agent: null };
}
