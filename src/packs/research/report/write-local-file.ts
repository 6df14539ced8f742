import { writeInside } from "../../../files/open-inside.ts";
import { messageOf } from "../../../schema/error.ts";
import type { Target } from "../../../schema/rights.ts";
import { defineTool, type Roots, type Tool, type ToolContext, type ToolOutput } from "../../../tools/tool.ts";
import { ownTarget } from "../own-target.ts";
import type { ReportRequest } from "./compose-report.ts";
import { externalLoads } from "./external-loads.ts";
import { REPORT_SCHEMA } from "./report-schema.ts";

/** A path, and one of the three ways to say what goes there: a text, a structured report, or the corpus. */
type WriteFileInput = ReportRequest & { path: string; content?: string; from_corpus?: boolean };

/** The folder of the workspace that holds what a person asked for. */
const FOLDER = "work_products";
const MAX_CHARS = 8_000_000;
const MAX_NAME_BYTES = 200;

/** Writes a report, or another text, to the session's work products. */
export const writeLocalFile: Tool<WriteFileInput> = defineTool<WriteFileInput>({
  name: "write_local_file",
  description: `Writes a file below ${FOLDER}/ of the workspace. Give one of: \`report\`, a structured report that is checked against the corpus and laid out as a finished page, or as Markdown if the path ends in .md; \`content\`, the text as it is, where HTML may load and run nothing; \`from_corpus: true\` with a title, and an extractive report is made from the corpus without you. In a report, [n] cites the n-th source, which is the n-th page of the corpus that was read unless \`sources\` lists others.`,
  groups: ["research"],
  risk: "medium",
  replay: "safe",
  isPublic: true,
  input: {
    type: "object",
    properties: {
      path: { type: "string", minLength: 1, maxLength: 1_000, description: `Such as ${FOLDER}/report.html.` },
      content: { type: "string", minLength: 1, maxLength: MAX_CHARS },
      report: REPORT_SCHEMA,
      from_corpus: { type: "boolean" },
      title: { type: "string", minLength: 1, maxLength: 300 },
      request: {
        type: "string",
        maxLength: 2_000,
        description: "What was asked for, shown below the title.",
      },
    },
    required: ["path"],
    additionalProperties: false,
  },
  check: (input) => faultOf(input),
  access: async ({ path }, roots) => [await targetOf(path, roots)],
  execute: async (input, context) => {
    try {
      return await write(input, context);
    } catch (thrown) {
      return { text: `${input.path} was not written: ${messageOf(thrown)}`, isError: true };
    }
  },
});

function faultOf({ path, content, report, from_corpus: fromCorpus }: WriteFileInput): string | null {
  const ways = [content !== undefined, report !== undefined, fromCorpus === true].filter(Boolean).length;
  if (ways !== 1) return "give exactly one of content, report and from_corpus: true";
  if (path.includes("\0")) return "the path must not contain a NUL character";
  if (content === undefined && !/\.(?:html?|md)$/i.test(path))
    return "a report's path must end in .html or .md";
  return null;
}

/** A path counts from the folder of work products, whether it names that folder, the whole way, or neither. */
async function targetOf(path: string, roots: Roots): Promise<Target> {
  const given = path.replace(/^workspace:/, "");
  const isWhole = given.startsWith("/") || new RegExp(`^(?:\\./)?${FOLDER}/`).test(given);
  return ownTarget(`workspace:${isWhole ? given : `${FOLDER}/${given}`}`, roots);
}

async function write(input: WriteFileInput, context: ToolContext): Promise<ToolOutput> {
  const { workspaceDir, targets, signal } = context;
  const target = targets.find((each) => each.kind === "path");
  if (target?.kind !== "path" || target.root !== "workspace" || !target.relative.startsWith(`${FOLDER}/`))
    return { text: `${input.path} is not below ${FOLDER}/ of the workspace`, isError: true };
  if (target.relative.split("/").some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    return { text: `a name in ${input.path} is longer than ${MAX_NAME_BYTES} bytes`, isError: true };
  const made = await contentOf(input, target.relative, context);
  if ("refused" in made) return { text: made.refused, isError: true, ...(made.quotes && { tainted: true }) };
  signal.throwIfAborted();
  await context.beforeChange(target.path);
  const kind = await writeInside(workspaceDir, target.path, made.content);
  context.changed(target.path, kind);
  const { projectDir, cwd } = context;
  const usual = await targetOf(input.path, { projectDir, workspaceDir, cwd });
  const isTaken = usual.kind === "path" && usual.path !== target.path;
  const why = isTaken ? `, because ${usual.relative} belongs to another run of this session` : "";
  const wrote = `Successfully wrote ${made.content.length} chars to ${target.relative}${why}`;
  const text = [wrote, ...made.notes].join("\n");
  return { text, ...(made.notes.length > 0 && { tainted: true }) };
}

type Made = { content: string; notes: readonly string[] } | { refused: string; quotes?: true };

async function contentOf(input: WriteFileInput, path: string, context: ToolContext): Promise<Made> {
  const { content } = input;
  if (content === undefined) {
    context.progress("laying out the report");
    const { composeReport } = await import("./compose-report.ts");
    return composeReport(input, path, context);
  }
  if (content.trim() === "") return { refused: "the content is empty" };
  if (!/\.x?html?$/i.test(path) && !/^\s*<(?:!doctype|html)/i.test(content)) return { content, notes: [] };
  const loads = await externalLoads(content);
  if (loads.length === 0) return { content, notes: [] };
  return {
    refused: `${input.path} was not written: a report must load and run nothing. Take out or put inline:\n${loads.map((each) => `- ${each}`).join("\n")}`,
  };
}
