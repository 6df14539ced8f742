import { basename } from "node:path";
import type { AgentSource, Problem } from "../schema/agent.ts";
import { describePlainText } from "./describe-plain-text.ts";
import { findKey, normalKey } from "./fields/field-names.ts";
import { type AgentReading, readAgent } from "./fields/read-agent.ts";
import { type ReadContext, withoutControls } from "./fields/read-values.ts";
import { makeSlug } from "./fields/slug.ts";
import type { KnownTools } from "./fields/tool-names.ts";
import { normalPath, type YamlFault, type YamlFields, type YamlNote } from "./yaml/parse-yaml.ts";
import { type Repair, readFrontmatter } from "./yaml/repair-yaml.ts";
import { normaliseText, type SplitFile, splitFrontmatter } from "./yaml/split-frontmatter.ts";

/** Where a text came from, and which names its rules may use. */
export type ParseOptions = {
  file: string;
  format: AgentSource["format"];
  scope: AgentSource["scope"];
  known?: KnownTools;
};

/** A usable agent or the errors that prevent one; either way the names that it claims, a document none. */
export type ParsedAgent = AgentReading & { problems: Problem[] };

/** Reads one agent file's text. Never throws on content, and never runs any of it. */
export async function parseAgentFile(text: string, options: ParseOptions): Promise<ParsedAgent> {
  const fallbackName = nameOfFile(options.file);
  const problems: Problem[] = [];
  const give = (reading: AgentReading): ParsedAgent => ({ ...reading, problems: problems.map(printable) });
  const normal = normaliseText(text);
  const split = splitFrontmatter(normal);
  if (split.kind === "none") return give(readPlain(split.body, { options, fallbackName, problems }));
  if (split.kind !== "found") {
    problems.push(unreadable(split, options.file));
    return give(guessNames(normal, fallbackName));
  }
  const fields = await readFields(split, options.file, problems);
  if (fields === undefined) return give(guessNames(split.yaml, fallbackName));
  const ctx = createContext(options, problems, fields.lines, split.yamlLine - 1);
  const reading = readAgent(ctx, {
    values: fields.values,
    prompt: split.body,
    fallbackName,
    source: describeOrigin(options),
  });
  if (isDocument(fallbackName) && problems.some((problem) => problem.code === "missing-description")) {
    problems.splice(0, problems.length, notAnAgent(options.file));
    return give(NO_NAMES);
  }
  return give({ ...reading, name: reading.name || fallbackName });
}

const NO_NAMES: AgentReading = { name: "", aliases: [] };

/** The names of a file whose fields cannot be read: what a line says is its name, and the file's own. */
function guessNames(text: string, fallbackName: string): AgentReading {
  const guess = (key: string) => {
    const written = new RegExp(`^(?:\\{[ \\t]*)?["']?${key}["']?[ \\t]*:([^,\\n]+)`, "im").exec(text)?.[1];
    return makeSlug(written?.replace(/[ \t]#.*$/, "") ?? "");
  };
  const own = makeSlug(fallbackName) ?? fallbackName;
  const name = guess("id") ?? guess("name") ?? own;
  return { name, aliases: name === own ? [] : [own] };
}

/** The fields with what a person should hear of them; undefined if they cannot be read. */
async function readFields(
  split: { yaml: string; yamlLine: number },
  file: string,
  problems: Problem[],
): Promise<YamlFields | undefined> {
  const read = await readFrontmatter(split.yaml, split.yamlLine);
  if ("faults" in read) {
    problems.push(badYaml(read.faults[0] ?? { line: split.yamlLine, message: "unreadable" }, file));
    return undefined;
  }
  for (const repair of read.repairs) problems.push(repaired(repair, file));
  reportNotes(read.fields.notes, file, problems);
  return read.fields;
}

/** A reading context for values that came from a file, with the lines of their keys. */
function createContext(
  options: ParseOptions,
  problems: Problem[],
  lines: ReadonlyMap<string, number>,
  startLine: number,
): ReadContext {
  const findLine = (path: string): number => {
    for (let at = normalPath(path); at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
      const line = lines.get(at);
      if (line !== undefined) return line;
    }
    return startLine;
  };
  const { file, format, known = {} } = options;
  return { file, format, known, findLine, problems };
}

/**
 * A file without frontmatter is an agent if its name is not that of a document (README, CHANGELOG, …) and its text
 * begins with a heading or a sentence that can serve as the description.
 */
function readPlain(
  body: string,
  found: { options: ParseOptions; fallbackName: string; problems: Problem[] },
): AgentReading {
  const { options, fallbackName, problems } = found;
  const description = describePlainText(body);
  if (isDocument(fallbackName) || description === undefined) {
    problems.push(notAnAgent(options.file));
    return isDocument(fallbackName) ? NO_NAMES : guessNames("", fallbackName);
  }
  const message = `there is no frontmatter; the description was taken from the text: ${JSON.stringify(description)}`;
  const fix = `begin the file with\n---\nname: ${fallbackName}\ndescription: …\n---`;
  problems.push({ severity: "warning", file: options.file, line: 1, code: "no-frontmatter", message, fix });
  const ctx = createContext(options, problems, new Map(), 1);
  const values = new Map([["description", description]]);
  return readAgent(ctx, { values, prompt: body, fallbackName, source: describeOrigin(options) });
}

/** Names that documents beside agents usually have. */
function isDocument(name: string): boolean {
  return /^(?:readme|agents|claude|gemini|changelog|contributing|license|notice|security|index|todo|template)$/i.test(
    name,
  );
}

/** An agent file's name without `.agent.md` or `.md`. */
export function nameOfFile(file: string): string {
  return basename(file).replace(/(?:\.agent)?\.md$/i, "");
}

/** Problems quote the file, which must not be able to steer the terminal that shows them. */
function printable(problem: Problem): Problem {
  return { ...problem, message: withoutControls(problem.message), fix: withoutControls(problem.fix) };
}

function describeOrigin(options: ParseOptions): AgentSource {
  return { format: options.format, scope: options.scope, file: options.file };
}

function reportNotes(notes: readonly YamlNote[], file: string, problems: Problem[]): void {
  for (const { kind, path, line } of notes) {
    const top = path.split(".")[0] ?? path;
    if (kind === "duplicate") {
      const severity = findKey(top)?.isRight ? "error" : "warning";
      const message = `${path} is there twice; only the first was read`;
      problems.push({ severity, file, line, code: "duplicate-key", message, fix: "join them into one" });
    } else if (kind === "unsafe") {
      const message = "__proto__ is not accepted as a key and was dropped";
      problems.push({ severity: "warning", file, line, code: "unsafe-key", message, fix: "remove it" });
    } else if (normalKey(path) === "description") {
      const message = "the description ends at an unquoted ` #`; what follows is a YAML comment";
      problems.push({
        severity: "info",
        file,
        line,
        code: "comment-in-text",
        message,
        fix: "quote the description if # is part of it",
      });
    }
  }
}

function unreadable(split: Exclude<SplitFile, { kind: "none" | "found" }>, file: string): Problem {
  const { line } = split;
  if (split.kind === "foreign") {
    const message = `the frontmatter is marked as ${split.language}; only YAML is read, and nothing is ever executed`;
    return {
      severity: "error",
      file,
      line,
      code: "foreign-frontmatter",
      message,
      fix: "write it as YAML between two lines of ---",
    };
  }
  const message = `the frontmatter that begins at line ${line} is never closed`;
  const fix = `add a line with --- after line ${split.lastKeyLine}`;
  return { severity: "error", file, line, code: "unclosed-frontmatter", message, fix };
}

function badYaml(fault: YamlFault, file: string): Problem {
  const message = `the frontmatter is not valid YAML and could not be repaired: ${fault.message}`;
  return {
    severity: "error",
    file,
    line: fault.line,
    code: "bad-yaml",
    message,
    fix: "put the value in quotes or correct its indentation",
  };
}

function repaired(repair: Repair, file: string): Problem {
  const message = `${repair.key} is not valid YAML (${repair.cause}) and was repaired`;
  const exact = repair.lines.join("\n").trimEnd();
  return {
    severity: "warning",
    file,
    line: repair.line,
    code: "repaired-yaml",
    message,
    fix: `write ${exact}`,
  };
}

function notAnAgent(file: string): Problem {
  const message = "this file has no description and was not taken as an agent";
  const fix = "add frontmatter with a description, or move it out of the agents folder";
  return { severity: "info", file, line: 1, code: "not-an-agent", message, fix };
}
