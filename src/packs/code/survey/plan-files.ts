import { pathTarget } from "../../../files/resolve-path.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { fileFault } from "../files/file-fault.ts";
import { type AllowGitDir, worktreesIn } from "../git/git-folder.ts";
import { roleOf } from "../symbols/languages.ts";
import { readIfVisible } from "../symbols/source-files.ts";
import { companionsOf, readHistory } from "./co-change.ts";
import { type Likely, likelyFiles } from "./likely-files.ts";
import { neighboursOf } from "./neighbours.ts";

type PlanFilesInput = { task: string; limit?: number };

const DEFAULT_LIMIT = 15;
const MAX_LIMIT = 50;
const MAX_REASONS = 4;
/** How many of the best files others are found by. */
const LEADING = 8;
const COMPANIONS = 3;

/** Makes the tool; `allowGitDir` says which folders of git outside of a project belong to it. */
export function createPlanFiles({ allowGitDir }: { allowGitDir?: AllowGitDir } = {}): Tool<PlanFilesInput> {
  return defineTool<PlanFilesInput>({
    name: "plan_files",
    description:
      "Names the files that a task will likely touch, best first, each with the reasons: words of the task in names, definitions and lines; the tests of such files; who imports them; what changed together with them in the past.",
    groups: ["filesystem"],
    risk: "low",
    replay: "safe",
    input: {
      type: "object",
      properties: {
        task: {
          type: "string",
          minLength: 3,
          maxLength: 10_000,
          description: "The task in words, with the names it is about.",
        },
        limit: {
          type: "integer",
          minimum: 1,
          maximum: MAX_LIMIT,
          description: `${DEFAULT_LIMIT} by default.`,
        },
      },
      required: ["task"],
      additionalProperties: false,
    },
    withSettings: (_, { dataDir }) => createPlanFiles({ allowGitDir: worktreesIn(dataDir) }),
    access: async (_input, roots) => [await pathTarget(".", "read", roots)],
    execute: async (input, context) => {
      try {
        return await plan(input, context, allowGitDir);
      } catch (thrown) {
        return { text: fileFault(thrown, "."), isError: true };
      }
    },
  });
}

/** Names the files that a task will likely touch. */
export const planFiles: Tool<PlanFilesInput> = createPlanFiles();

async function plan(
  { task, limit = DEFAULT_LIMIT }: PlanFilesInput,
  context: ToolContext,
  allowGitDir: AllowGitDir | undefined,
): Promise<ToolOutput> {
  const { files, terms, missing } = await likelyFiles(task, context);
  if (terms.length === 0 && files.length === 0 && missing.length === 0)
    return {
      text: "the task names nothing to search for; say which things of the project it is about",
      isError: true,
    };
  context.progress(`${files.length} files hold words of the task`);
  const likely = new Map(files.map((file) => [file.path, file]));
  const leading = files.slice(0, LEADING);
  const neighbours = await neighboursOf(
    leading.map((file) => file.path),
    context,
  );
  for (const { path, of, reason, share } of neighbours)
    raise(likely, { path, reason, share, lead: likely.get(of)?.score ?? 0 });
  const history = await readHistory(context, allowGitDir);
  for (const { path: of, score: lead } of leading) {
    for (const { path, together, of: commits } of companionsOf(of, history).slice(0, COMPANIONS)) {
      if (!likely.has(path) && (await readIfVisible(path, context)) === null) continue;
      const share = 0.6 * (together / commits) * Math.min(1, together / 5);
      raise(likely, { path, share, lead, reason: `changed with ${of} in ${together} of ${commits} commits` });
    }
  }
  const ranked = [...likely.values()].sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
  const notes = [
    ...missing.map((path) => `${path}  named in the task, and not there yet`),
    ...(terms.length > 0 ? [`(searched for: ${terms.join(", ")})`] : []),
    ...(history.fault ? [`(without the history: ${history.fault})`] : []),
  ];
  const lines = ranked.slice(0, limit).map(lineOf);
  return { text: [...(lines.length > 0 ? lines : ["no file holds words of the task"]), ...notes].join("\n") };
}

/** A file that goes with another takes a share of its weight, and comes after it unless it came first already. */
function raise(
  likely: Map<string, Likely>,
  { path, lead, share, reason }: { path: string; lead: number; share: number; reason: string },
): void {
  const { score, reasons }: Omit<Likely, "path"> = likely.get(path) ?? { score: 0, reasons: [] };
  if (reasons.includes(reason)) return;
  const raised = Math.max(score, Math.min(score + lead * share, lead * 0.95));
  likely.set(path, { path, score: raised, reasons: [...reasons, reason] });
}

function lineOf({ path, reasons }: Likely): string {
  const role = roleOf(path);
  const shown = reasons.slice(0, MAX_REASONS);
  const more = reasons.length > shown.length ? [`${reasons.length - shown.length} more reasons`] : [];
  return `${path}  ${role === "test" ? "test; " : ""}${[...shown, ...more].join("; ")}`;
}
