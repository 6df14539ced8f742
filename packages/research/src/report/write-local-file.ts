import { writeInside } from "@retinue/core/files/open-inside";
import { messageOf } from "@retinue/core/schema/error";
import type { Target } from "@retinue/core/schema/rights";
import {
  defineTool,
  type Roots,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from "@retinue/core/tools/tool";
import type { DefaultTreeAdapterTypes } from "parse5";
import { findOwnTarget } from "../workspace-files.ts";
import type { ReportRequest } from "./compose-report.ts";
import { REPORT_SCHEMA } from "./report.ts";

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
  check: (input) => findInputFault(input),
  access: async ({ path }, roots) => [await findTarget(path, roots)],
  execute: async (input, context) => {
    try {
      return await writeProduct(input, context);
    } catch (thrown) {
      return { text: `${input.path} was not written: ${messageOf(thrown)}`, isError: true };
    }
  },
});

function findInputFault({ path, content, report, from_corpus: fromCorpus }: WriteFileInput): string | null {
  const ways = [content !== undefined, report !== undefined, fromCorpus === true].filter(Boolean).length;
  if (ways !== 1) return "give exactly one of content, report and from_corpus: true";
  if (path.includes("\0")) return "the path must not contain a NUL character";
  if (content === undefined && !/\.(?:html?|md)$/i.test(path))
    return "a report's path must end in .html or .md";
  return null;
}

/** A path counts from the folder of work products, whether it names that folder, the whole way, or neither. */
async function findTarget(path: string, roots: Roots): Promise<Target> {
  const given = path.replace(/^workspace:/, "");
  const isWhole = given.startsWith("/") || new RegExp(`^(?:\\./)?${FOLDER}/`).test(given);
  return findOwnTarget(`workspace:${isWhole ? given : `${FOLDER}/${given}`}`, roots);
}

async function writeProduct(input: WriteFileInput, context: ToolContext): Promise<ToolOutput> {
  const { workspaceDir, targets, signal } = context;
  const target = targets.find((each) => each.kind === "path");
  if (target?.kind !== "path" || target.root !== "workspace" || !target.relative.startsWith(`${FOLDER}/`))
    return { text: `${input.path} is not below ${FOLDER}/ of the workspace`, isError: true };
  if (target.relative.split("/").some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    return { text: `a name in ${input.path} is longer than ${MAX_NAME_BYTES} bytes`, isError: true };
  const made = await makeContent(input, target.relative, context);
  if ("refused" in made) return { text: made.refused, isError: true, ...(made.quotes && { tainted: true }) };
  signal.throwIfAborted();
  await context.beforeChange(target.path);
  const kind = await writeInside(workspaceDir, target.path, made.content);
  context.changed(target.path, kind);
  const { projectDir, cwd } = context;
  const usual = await findTarget(input.path, { projectDir, workspaceDir, cwd });
  const isTaken = usual.kind === "path" && usual.path !== target.path;
  const why = isTaken ? `, because ${usual.relative} belongs to another run of this session` : "";
  const wrote = `Successfully wrote ${made.content.length} chars to ${target.relative}${why}`;
  const text = [wrote, ...made.notes].join("\n");
  return { text, ...(made.notes.length > 0 && { tainted: true }) };
}

type Made = { content: string; notes: readonly string[] } | { refused: string; quotes?: true };

async function makeContent(input: WriteFileInput, path: string, context: ToolContext): Promise<Made> {
  const { content } = input;
  if (content === undefined) {
    context.progress("laying out the report");
    const { composeReport } = await import("./compose-report.ts");
    return composeReport(input, path, context);
  }
  if (content.trim() === "") return { refused: "the content is empty" };
  if (!/\.x?html?$/i.test(path) && !/^\s*<(?:!doctype|html)/i.test(content)) return { content, notes: [] };
  const loads = await findExternalLoads(content);
  if (loads.length === 0) return { content, notes: [] };
  return {
    refused: `${input.path} was not written: a report must load and run nothing. Take out or put inline:\n${loads.map((each) => `- ${each}`).join("\n")}`,
  };
}

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** Attributes from which a browser loads something, or goes somewhere, by itself. */
const LOADING = new Set([
  "src",
  "srcset",
  "poster",
  "background",
  "data",
  "codebase",
  "archive",
  "manifest",
  "ping",
]);
/** Elements that have no place in a page that only shows something. */
const REFUSED = new Set([
  "script",
  "iframe",
  "frame",
  "object",
  "embed",
  "applet",
  "base",
  "portal",
  "fencedframe",
]);
/** Attributes that hold a style: SVG has many of its own, and its animations put another in their place. */
const STYLED =
  /^(?:style|fill|stroke|filter|mask|clip-path|cursor|marker(?:-start|-mid|-end)?|to|from|by|values)$/;
const MAX_LISTED = 20;
const MAX_SHOWN = 120;

/** What an HTML page would load or run, a line each; empty if it needs nothing else. */
export async function findExternalLoads(html: string): Promise<string[]> {
  const { parse } = await import("parse5");
  const found = new Set<string>();
  // Where scripts are off, as in a sandboxed frame, what is in <noscript> counts.
  const open: Node[] = [parse(html, { scriptingEnabled: false })];
  for (let node = open.pop(); node !== undefined && found.size < MAX_LISTED; node = open.pop()) {
    if ("tagName" in node) for (const fault of findFaults(node)) found.add(fault.slice(0, MAX_SHOWN));
    if ("content" in node) open.push(node.content);
    if ("childNodes" in node) open.push(...node.childNodes.toReversed());
  }
  return [...found];
}

function findFaults(element: Element): string[] {
  const { tagName, attrs } = element;
  if (REFUSED.has(tagName)) return [`<${tagName}>`];
  const named = new Map(attrs.map(({ name, value }) => [name.toLowerCase(), value]));
  const faults = attrs.flatMap(({ name, value }) => findAttributeFault(tagName, name.toLowerCase(), value));
  if (tagName === "link")
    faults.push(`<link rel="${named.get("rel") ?? ""}" href="${named.get("href") ?? ""}">`);
  if (tagName === "meta" && /refresh/i.test(named.get("http-equiv") ?? ""))
    faults.push("<meta http-equiv=refresh>");
  if (tagName === "style")
    faults.push(...findStyleLoads(readText(element)).map((each) => `<style>: ${each}`));
  return faults;
}

function findAttributeFault(tag: string, name: string, value: string): string[] {
  const shown = `<${tag} ${name}="${value}">`;
  if (name.startsWith("on")) return [`<${tag} ${name}=…>`];
  if (STYLED.test(name)) return findStyleLoads(value).map((each) => `<${tag} ${name}>: ${each}`);
  if (name === "attributename" && /href|^src|^on/i.test(value.trim())) return [shown];
  const address = value.replace(/[\p{Cc}\s]/gu, "");
  if (/href$|^src$|action$|^data$/.test(name) && /^(?:javascript|vbscript):/i.test(address)) return [shown];
  const isLoaded =
    LOADING.has(name) || (/href$/.test(name) && tag !== "a" && tag !== "area" && tag !== "link");
  if (name === "action" || name === "formaction") return [shown];
  return isLoaded && !isOwn(address) ? [shown] : [];
}

/** Something that is in the page already. */
function isOwn(address: string): boolean {
  return address === "" || address.startsWith("#") || /^data:(?:image\/(?!svg)|font\/)/i.test(address);
}

function findStyleLoads(style: string): string[] {
  // Comments stay: what looks like one may be in a string, and within a name none is allowed.
  const plain = style.replace(
    /\\(?:([0-9a-f]{1,6})\s?|([^\n]))/gi,
    (_, code: string | undefined, character = "") =>
      code === undefined ? character : toCharacter(Number.parseInt(code, 16)),
  );
  const faults = [...plain.matchAll(/url\(\s*["']?([^"')]{0,500})/gi)]
    .map(([, address = ""]) => address.trim())
    .filter((address) => !isOwn(address))
    .map((address) => `url(${address})`);
  if (/@import/i.test(plain)) faults.push("@import");
  // These take an address as a bare string.
  const [taker] = /\b(?:image-set|image|src)(?=\()/i.exec(plain) ?? [];
  if (taker) faults.push(`${taker.toLowerCase()}()`);
  return faults;
}

function toCharacter(code: number): string {
  return code > 0x10ffff ? "" : String.fromCodePoint(code);
}

function readText({ childNodes }: Element): string {
  return childNodes.map((node) => ("value" in node ? node.value : "")).join("");
}
