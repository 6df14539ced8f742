import type { Agent, AgentFormat } from "../../schema/agent.ts";
import type { AgentForm, AgentFormChange } from "../../schema/api/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import { sortKeys, withOwnServers } from "../fields/sort-keys.ts";
import type { KnownTools } from "../fields/tool-names.ts";
import { parseAgentFile } from "../parse-agent-file.ts";
import { parseYaml } from "../yaml/parse-yaml.ts";
import { fixAgentFile, quoteYaml } from "../yaml/repair-yaml.ts";
import { normaliseText, splitFrontmatter } from "../yaml/split-frontmatter.ts";
import { formOf, isSameValue } from "./agent-form.ts";
import { cannotSay } from "./cannot-say.ts";
import { checkEdit, wantedValue } from "./check-edit.ts";
import { type Attempt, type Draft, readerFor } from "./draft.ts";
import { limitsAttempts } from "./edit-limits.ts";
import { plainAttempts, setText, withoutField } from "./edit-plain.ts";
import { rightsAttempts } from "./edit-rights.ts";
import { subagentsAttempts } from "./edit-subagents.ts";
import {
  cutFile,
  type FileParts,
  lineEndOf,
  withFrontmatter,
  withLineEnds,
  withPrompt,
} from "./frontmatter-text.ts";

/** Whose file a text is: its format, its name without a key for one, and the tools there are. */
export type EditOptions = { format: AgentFormat; name?: string | undefined; known?: KnownTools | undefined };

/** A text, what is known of it, and the file that it stands in. */
type Read = {
  text: string;
  agent: Agent | undefined;
  values: ReadonlyMap<string, unknown>;
  parts: FileParts;
};

const FIELDS =
  `name displayName description model aliases tools askTools disallowedTools grants subagents context limits
  temperature maxOutputTokens workspace flow icon color enabled prompt`.split(/\s+/) as (keyof AgentForm)[];

/**
 * Writes some fields of the form into a file. Everything else stays byte for byte: unknown keys, comments, order, quotes,
 * line ends, the body. A field goes where the file says it already, in the spelling and names of the program the file
 * belongs to. Each change is read back; what would say something else than was wanted, or change another field, is an
 * error and nothing is written.
 */
export async function editAgentFile(
  text: string,
  change: AgentFormChange,
  options: EditOptions,
): Promise<string> {
  let edited = text;
  for (const field of FIELDS) {
    const desired = change[field];
    if (desired !== undefined) edited = await editField(edited, { field, desired, options });
  }
  return edited;
}

type Edit = { field: keyof AgentForm; desired: unknown; options: EditOptions };

async function editField(text: string, edit: Edit): Promise<string> {
  const { field, options } = edit;
  const desired = wantedValue(field, edit.desired);
  const now = (await parse(text, options)).agent;
  const form = now === undefined ? null : formOf(now);
  if (form !== null && desired !== null && isSameValue(form[field], desired)) return text;
  if (desired === null && splitFrontmatter(normaliseText(text)).kind === "none" && field !== "prompt")
    return text;
  const read = await prepare(text, options);
  const draft = await draftOf(read, options);
  let refusal: unknown;
  for (const attempt of attemptsFor({ ...edit, desired }, form, draft, read)) {
    try {
      const edited = attempt();
      await check(read, edited, { ...edit, desired });
      return edited;
    } catch (thrown) {
      if (!(thrown instanceof RetinueError)) throw thrown;
      refusal ??= thrown;
    }
  }
  throw refusal ?? cannotSay(field, "there is no place for it");
}

/** The file with a frontmatter that strict YAML reads: repaired, or added to a text that has none. */
async function prepare(text: string, options: EditOptions): Promise<Read> {
  const { text: fixed } = await fixAgentFile(text);
  const usual = lineEndOf(fixed);
  const split = splitFrontmatter(normaliseText(fixed));
  const { agent } = await parse(fixed, options);
  if (split.kind === "none") {
    const added = withFrontmatter(fixed, usual);
    // What was taken from the text has to be said now.
    const yaml = agent === undefined ? "" : `description: ${quoteYaml(agent.description)}${usual}`;
    const parts = { ...added, yaml };
    return { text: join(parts), agent, values: await valuesOf(yaml), parts };
  }
  const parts = cutFile(fixed);
  if (split.kind !== "found" || parts === null)
    throw cannotSay("the change", "its frontmatter cannot be read");
  return { text: fixed, agent, values: await valuesOf(parts.yaml), parts };
}

async function valuesOf(yaml: string): Promise<ReadonlyMap<string, unknown>> {
  const read = await parseYaml(normaliseText(yaml), 1);
  if ("faults" in read)
    throw cannotSay(
      "the change",
      `its frontmatter is not valid YAML (${read.faults[0]?.message ?? "unreadable"})`,
    );
  return read.fields.values;
}

async function draftOf({ parts, values }: Read, { format, known = {} }: EditOptions): Promise<Draft> {
  const reader = readerFor({ format, known });
  const { fields, extra } = sortKeys(reader, values);
  const yaml = normaliseText(parts.yaml);
  return { yaml, format, known: withOwnServers(reader, extra).known, fields };
}

function attemptsFor(edit: Edit, form: AgentForm | null, draft: Draft, { parts }: Read): (() => string)[] {
  const usual = lineEndOf(join(parts));
  const inYaml = (attempt: Attempt) => () => {
    const yaml = withLineEnds(parts.yaml, attempt(draft), usual);
    return join({ ...parts, yaml });
  };
  if (edit.field !== "prompt") return yamlAttempts(edit, form, draft).map(inYaml);
  const prompt = typeof edit.desired === "string" ? edit.desired : "";
  const inBody = () => join({ ...parts, body: withPrompt(parts.body, prompt, usual) });
  if (parts.body.trim() !== "" || draft.fields.prompt === undefined) return [inBody];
  const inKey: Attempt = (from) =>
    prompt === "" ? withoutField(from, "prompt") : setText(from, "prompt", prompt);
  return [inYaml(inKey), inBody];
}

function yamlAttempts({ field, desired }: Edit, form: AgentForm | null, draft: Draft): Attempt[] {
  const wanted = { [field]: desired } as AgentFormChange;
  switch (field) {
    case "tools":
    case "askTools":
    case "disallowedTools":
    case "grants":
      return rightsAttempts(field, wanted[field] ?? null, draft);
    case "subagents":
      return subagentsAttempts(wanted.subagents ?? null);
    case "limits":
      return limitsAttempts(wanted.limits ?? null, form?.limits ?? {});
    case "prompt":
      return [];
    default:
      return plainAttempts(field, wanted[field] ?? null, form);
  }
}

async function check(before: Read, edited: string, { field, desired, options }: Edit): Promise<void> {
  const parts = cutFile(edited);
  if (parts === null) throw cannotSay(field, "its frontmatter would not end where it does");
  const values = await valuesOf(parts.yaml);
  const { agent, problems } = await parse(edited, options);
  checkEdit({ field, desired, before, after: { agent, values }, problems });
}

function parse(text: string, { format, name, known }: EditOptions): ReturnType<typeof parseAgentFile> {
  const file = `${name ?? "unnamed agent file"}.md`;
  return parseAgentFile(text, { file, format, scope: "project", ...(known && { known }) });
}

function join({ head, yaml, fence, body }: FileParts): string {
  return `${head}${yaml}${fence}${body}`;
}
