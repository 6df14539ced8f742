import type { Agent, AgentFormat } from "../../schema/agent.ts";
import type { AgentForm, AgentFormChange } from "../../schema/api/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import { type FormValue, listFormFields } from "../../schema/form-fields.ts";
import { sortKeys, withOwnServers } from "../fields/sort-keys.ts";
import type { KnownTools } from "../fields/tool-names.ts";
import { parseAgentFile } from "../parse-agent-file.ts";
import { parseYaml } from "../yaml/parse-yaml.ts";
import { fixAgentFile, quoteYaml } from "../yaml/repair-yaml.ts";
import { normaliseText, splitFrontmatter } from "../yaml/split-frontmatter.ts";
import { checkEdit, isSameValue, toForm, toReadValue } from "./check-edit.ts";
import { createSilentReader, type RightsField, rightsAttempts } from "./edit-rights.ts";
import { writeSubagents } from "./edit-subagents.ts";
import { type Attempt, type Draft, drop, put, writeFormValue } from "./edit-values.ts";
import { cannotSay, FrontmatterEdit } from "./frontmatter-edit.ts";

/** Whose file a text is: its format, its name without a key for one, and the tools there are. */
export type EditOptions = {
  format: AgentFormat;
  name?: string | undefined;
  known?: KnownTools | undefined;
};

/** A text, what is known of it, and the file that it is in. */
type Read = {
  text: string;
  agent: Agent | undefined;
  values: ReadonlyMap<string, unknown>;
  parts: FileParts;
};

/**
 * Writes some values of the form into a file. Other fields and the body stay byte for byte, with comments, quotes and line
 * ends; the changed field keeps its comments and quotes. A field goes where the file says it already, in the spelling and
 * names of the program the file belongs to. Each change is read back; what would say something other than what was wanted, or
 * change another field, is an error and nothing is written.
 */
export async function editAgentFile(
  text: string,
  change: AgentFormChange,
  options: EditOptions,
): Promise<string> {
  const wanted: Readonly<Record<string, unknown>> = change;
  let edited = text;
  for (const value of listFormFields()) {
    const desired = wanted[value.name];
    if (desired !== undefined)
      edited = await editValue(edited, { name: value.name, value, desired, options });
  }
  if (change.prompt === undefined) return edited;
  return editValue(edited, { name: "prompt", value: null, desired: change.prompt, options });
}

/** What becomes of one value; `value` is null for the prompt, which is no field. */
type Edit = { name: string; value: FormValue | null; desired: unknown; options: EditOptions };

async function editValue(text: string, asked: Edit): Promise<string> {
  const { name, options } = asked;
  const edit = { ...asked, desired: toReadValue(name, asked.desired) };
  const { agent } = await parse(text, options);
  const form = agent ? toForm(agent) : null;
  const now = form && Object.entries(form).find(([key]) => key === name)?.[1];
  if (form !== null && edit.desired !== null && isSameValue(now, edit.desired)) return text;
  const isBare = splitFrontmatter(normaliseText(text)).kind === "none";
  if (edit.desired === null && isBare && name !== "prompt") return text;
  const read = await prepare(text, options);
  let refusal: unknown;
  for (const attempt of listAttempts(edit, form, read)) {
    try {
      const edited = attempt();
      await check(read, edited, edit);
      return edited;
    } catch (thrown) {
      if (!(thrown instanceof RetinueError)) throw thrown;
      refusal ??= thrown;
    }
  }
  throw refusal ?? cannotSay(name, "there is no place for it");
}

/** The file with a frontmatter that strict YAML reads: repaired, or added to a text that has none. */
async function prepare(text: string, options: EditOptions): Promise<Read> {
  const { text: fixed } = await fixAgentFile(text);
  const usual = findFirstLineEnd(fixed);
  const split = splitFrontmatter(normaliseText(fixed));
  const { agent } = await parse(fixed, options);
  if (split.kind === "none") {
    const added = withFrontmatter(fixed, usual);
    // What was taken from the text has to be said now.
    const yaml = agent === undefined ? "" : `description: ${quoteYaml(agent.description)}${usual}`;
    const parts = { ...added, yaml };
    return { text: join(parts), agent, values: await readValues(yaml), parts };
  }
  const parts = cutFile(fixed);
  if (split.kind !== "found" || parts === null)
    throw cannotSay("the change", "its frontmatter cannot be read");
  return { text: fixed, agent, values: await readValues(parts.yaml), parts };
}

async function readValues(yaml: string): Promise<ReadonlyMap<string, unknown>> {
  const read = await parseYaml(normaliseText(yaml), 1);
  if ("faults" in read)
    throw cannotSay(
      "the change",
      `its frontmatter is not valid YAML (${read.faults[0]?.message ?? "unreadable"})`,
    );
  return read.fields.values;
}

/** A new draft for each attempt, since an attempt may stop halfway. */
function createDraft({ parts, values }: Read, { format, known = {} }: EditOptions): Draft {
  const reader = createSilentReader({ format, known });
  const { fields, extra } = sortKeys(reader, values);
  const edit = new FrontmatterEdit(normaliseText(parts.yaml));
  return { edit, format, known: withOwnServers(reader, extra).known, written: fields };
}

function listAttempts(edit: Edit, form: AgentForm | null, read: Read): (() => string)[] {
  const { parts } = read;
  const { value, desired, options } = edit;
  const usual = findFirstLineEnd(join(parts));
  const inYaml = (attempt: Attempt) => () => {
    const draft = createDraft(read, options);
    attempt(draft);
    return join({ ...parts, yaml: withLineEnds(parts.yaml, draft.edit.toString(), usual) });
  };
  const draft = createDraft(read, options);
  if (value !== null) return fieldAttempts(value, desired, { form, draft }).map(inYaml);
  const prompt = typeof desired === "string" ? desired : "";
  const inBody = () => join({ ...parts, body: withPrompt(parts.body, prompt, usual) });
  if (parts.body.trim() !== "" || draft.written.prompt === undefined) return [inBody];
  return [inYaml((from) => (prompt === "" ? drop(from, "prompt") : put(from, "prompt", prompt))), inBody];
}

function fieldAttempts(
  value: FormValue,
  desired: unknown,
  { form, draft }: { form: AgentForm | null; draft: Draft },
): Attempt[] {
  const wanted: AgentFormChange = { [value.name]: desired };
  if (value.kind.is === "rules") {
    const field = value.name as RightsField;
    return rightsAttempts(field, wanted[field] ?? null, draft);
  }
  if (value.name === "subagents") return [(from) => writeSubagents(from, wanted.subagents ?? null)];
  return [(from) => writeFormValue(from, value, { desired, form })];
}

async function check(before: Read, edited: string, { name, value, desired, options }: Edit): Promise<void> {
  const parts = cutFile(edited);
  if (parts === null) throw cannotSay(name, "its frontmatter would not end where it does");
  const values = await readValues(parts.yaml);
  const { agent, problems } = await parse(edited, options);
  checkEdit({ name, value, desired, before, after: { agent, values }, problems });
}

function parse(text: string, { format, name, known }: EditOptions): ReturnType<typeof parseAgentFile> {
  const file = `${name ?? "unnamed agent file"}.md`;
  return parseAgentFile(text, { file, format, scope: "project", known });
}

function join({ head, yaml, fence, body }: FileParts): string {
  return `${head}${yaml}${fence}${body}`;
}

/** A file cut where its frontmatter and its body begin and end, every byte of it in one of the parts. */
export type FileParts = {
  /** Byte order mark, blank lines and the opening fence. */
  head: string;
  yaml: string;
  /** The closing fence with its line end. */
  fence: string;
  body: string;
};

/** Cuts a file that has a frontmatter; null for one without. */
export function cutFile(text: string): FileParts | null {
  const lines = text.split(/(?<=\r\n|\n|\r(?!\n))/);
  const bare = lines.map((line) => normaliseText(line).replace(/\n$/, ""));
  const first = bare.findIndex((line) => line.trim() !== "");
  if (!/^---(?:[ \t]*ya?ml)?[ \t]*$/i.test(bare[first] ?? "")) return null;
  const closing = bare.findIndex((line, index) => index > first && /^(?:---|\.\.\.)[ \t]*$/.test(line));
  if (closing === -1) return null;
  const join = (from: number, to: number): string => lines.slice(from, to).join("");
  return {
    head: join(0, first + 1),
    yaml: join(first + 1, closing),
    fence: join(closing, closing + 1),
    body: join(closing + 1, lines.length),
  };
}

/** The line end that a text uses first; `\n` if it has none. */
export function findFirstLineEnd(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? "\n";
}

/** A changed text with the line ends of the one it was made from; lines that are new get the usual one. */
export function withLineEnds(before: string, after: string, usual: string): string {
  const old = before.split(/(?<=\r\n|\n|\r(?!\n))/);
  const plain = old.map(normaliseText);
  const fresh = after.split(/(?<=\n)/);
  let start = 0;
  while (start < Math.min(old.length, fresh.length) && plain[start] === fresh[start]) start++;
  let end = 0;
  const most = Math.min(old.length, fresh.length) - start;
  while (end < most && plain[old.length - 1 - end] === fresh[fresh.length - 1 - end]) end++;
  const middle = fresh.slice(start, fresh.length - end).map((line) => line.replace(/\n$/, usual));
  return [...old.slice(0, start), ...middle, ...old.slice(old.length - end)].join("");
}

/** A body with another prompt in it; the blank lines around it stay. */
export function withPrompt(body: string, prompt: string, usual: string): string {
  const lead = body.slice(0, body.length - body.trimStart().length);
  const tail = lead === body ? "" : body.slice(body.trimEnd().length);
  const text = normaliseText(prompt).trim().replaceAll("\n", usual);
  if (text === "") return lead;
  return `${lead}${text}${tail === "" && lead === body ? usual : tail}`;
}

/** A file around a body that had no frontmatter. */
export function withFrontmatter(text: string, usual: string): FileParts {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  return { head: `${mark}---${usual}`, yaml: "", fence: `---${usual}`, body: text.slice(mark.length) };
}
