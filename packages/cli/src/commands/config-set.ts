import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { parseAgentValue } from "@retinue/core/agents/define-agent";
import type { Problem } from "@retinue/core/schema/agent";
import { RetinueError } from "@retinue/core/schema/error";
import { isRecord } from "@retinue/core/schema/json-object";
import { checkSettings } from "@retinue/core/settings/check-settings";
import { EditFault, editJson, locateJson } from "@retinue/core/settings/json-source";
import { refuseWidening } from "@retinue/core/settings/narrow-settings";
import { readSettingsFile, type SettingsFile } from "@retinue/core/settings/read-settings-file";
import { cutToLine, writeJson } from "@retinue/core/text/plain-text";
import { Option } from "commander";
import { readStdin } from "../ask.ts";
import type { CliCommand } from "../cli-command.ts";
import { loadEffectiveSettings, showOrigin } from "../effective-settings.ts";
import { findSettingsFiles, type OpenProject, openProject } from "../open-project.ts";
import {
  findSettingSchema,
  isSecret,
  KEY_FORM,
  maskSecrets,
  parseKey,
  readValueAt,
  showKey,
} from "../setting-key.ts";
import type { Cli } from "../terminal.ts";
import { writeWhole } from "../write-files.ts";

/** Declares `retinue config set` and `unset`. */
export function registerConfigSet(config: CliCommand): void {
  withScope(config.command("set"))
    .description("set one value, after checking it; the rest of the file stays as it is")
    .argument("<key>", KEY_FORM)
    .argument("<value>", "JSON, or text where the setting is one; `-` reads it from stdin")
    .examples(
      "retinue config set model anthropic/claude-sonnet-4-6",
      "retinue config set --project permissions.deny '[\"shell(git push *)\"]'",
    )
    .performs(setSetting);
  withScope(config.command("unset"))
    .description("take one value out of a settings file")
    .argument("<key>", KEY_FORM)
    .examples("retinue config unset limits.turns")
    .performs((key: string, cli: Cli<SetOptions>) => change(parseKey(key), undefined, cli));
}

function withScope(command: CliCommand): CliCommand {
  return command
    .addOption(new Option("--global", "in your own settings (the default)").conflicts("project"))
    .option("--project", "in the project's settings, which may only narrow yours");
}

type SetOptions = { global?: boolean; project?: boolean };

/** `retinue config set`: checks the changed file before writing it. */
async function setSetting(key: string, text: string, cli: Cli<SetOptions>): Promise<void> {
  const keys = parseKey(key);
  const schema = findSettingSchema(keys);
  if (isSecret(keys) && text !== "-")
    cli.tell("warning: your shell may keep this secret in its history; give it by stdin: … set KEY -");
  const value = parseValue(
    text === "-" ? (await readStdin("value", MAX_VALUE, cli)).replace(/\r?\n$/, "") : text,
    schema,
    showKey(keys),
  );
  await change(keys, value, cli);
}

async function change(keys: readonly string[], value: unknown, cli: Cli<SetOptions>): Promise<void> {
  const project = await openProject(cli);
  const scope = cli.options.project ? "project" : "user";
  const file = findSettingsFiles(project)[scope];
  const { text, before } = await readNow(file);
  const edited = editText(text, keys, value);
  if (edited !== text) {
    const after = parseEdited(file, edited);
    await refuseFaults({ before, after, keys, scope }, project);
    const own = scope === "user" ? { mode: 0o600, folderMode: 0o700 } : { within: project.projectDir };
    await writeWhole(file, edited, own);
  }
  await reportChange({ keys, value, file, changed: edited !== text }, cli);
}

async function readNow(file: string): Promise<{ text: string; before: SettingsFile }> {
  const read = await readSettingsFile(file);
  if (!read) return { text: "{}\n", before: { file, value: {}, lines: new Map() } };
  if ("problem" in read)
    throw new RetinueError("config", `${file}: ${read.problem.message}`, read.problem.fix);
  return { text: await readFile(file, "utf8"), before: read };
}

function editText(text: string, keys: readonly string[], value: unknown): string {
  try {
    return editJson(text, keys, value);
  } catch (thrown) {
    if (!(thrown instanceof EditFault)) throw thrown;
    throw new RetinueError(
      "input",
      `'${showKey(keys)}' cannot be set: ${thrown.message}`,
      "set the whole of it",
    );
  }
}

function parseEdited(file: string, text: string): SettingsFile {
  const located = locateJson(text.replace(/^\uFEFF/, ""));
  const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ""));
  if ("fault" in located || !isRecord(value))
    throw new RetinueError("input", "the value is nested too deeply for a settings file");
  return { file, value, lines: located.lines };
}

type Change = {
  before: SettingsFile;
  after: SettingsFile;
  keys: readonly string[];
  scope: "user" | "project";
};

/** Refuses new errors, and settings without effect. */
async function refuseFaults({ before, after, keys, scope }: Change, project: OpenProject): Promise<void> {
  const old = (await checkSettings(before)).problems;
  const faults = (await checkSettings(after)).problems.concat(agentFaults(after, project));
  refuseNew(old.concat(agentFaults(before, project)), faults, keys);
  if (scope !== "project") return;
  const findLine = () => 1;
  const refused = refuseWidening(after.value, after.file, findLine).problems;
  const known = new Set(
    refuseWidening(before.value, before.file, findLine).problems.map(({ message }) => message),
  );
  const fresh = refused.find(({ message }) => !known.has(message));
  if (fresh)
    throw new RetinueError(
      "denied",
      fresh.message.replace("is ignored:", "cannot be set in a project:"),
      "set it in your own settings: without --project",
    );
}

function refuseNew(old: readonly Problem[], now: readonly Problem[], keys: readonly string[]): void {
  const known = new Set(old.map(({ message }) => message));
  const fresh = now.find(({ severity, code, message }) => {
    return (severity === "error" || code === "unknown-setting") && !known.has(message);
  });
  if (!fresh) return;
  const hint =
    fresh.code === "unknown-setting" ? fresh.fix : `see what ${showKey(keys)} may be: retinue config schema`;
  throw new RetinueError("input", fresh.message, hint);
}

function agentFaults({ value, file }: SettingsFile, { known }: OpenProject): Problem[] {
  const entries = isRecord(value.agents) ? Object.entries(value.agents) : [];
  return entries.flatMap(([name, each]) => {
    const draft = isRecord(each) ? { ...each, name } : each;
    const { problems } = parseAgentValue(draft, {
      source: { format: "settings", scope: "user", file },
      known,
    });
    return problems.map((one) => ({ ...one, message: `agent '${name}': ${one.message}` }));
  });
}

type Changed = { keys: readonly string[]; value: unknown; file: string; changed: boolean };

/** Says what was changed, and which value applies now if it is another one. */
async function reportChange({ keys, value, file, changed }: Changed, cli: Cli<SetOptions>): Promise<void> {
  const key = showKey(keys);
  const settings = await loadEffectiveSettings(cli);
  const holds = readValueAt(settings.value, keys);
  if (cli.options.json) {
    const shown = {
      key,
      value: maskSecrets(value, keys) ?? null,
      file,
      changed,
      effective: maskSecrets(holds, keys) ?? null,
    };
    return cli.print(writeJson(shown, 2));
  }
  const now =
    value === undefined ? "removed" : `= ${cutToLine(JSON.stringify(maskSecrets(value, keys)), 200)}`;
  cli.print(changed ? `${key} ${now} in ${file}` : `nothing to change: ${key} is so already in ${file}`);
  if (isDeepStrictEqual(holds, value) || holds === undefined) return;
  const leaf = settings.leaves.find((each) => showKey(each.keys) === key);
  const by = leaf ? ` (${leaf.origins.map((each) => showOrigin(each, "")).join(" + ")})` : "";
  cli.tell(`note: what holds here is ${cutToLine(JSON.stringify(maskSecrets(holds, keys)), 200)}${by}`);
}

const MAX_VALUE = 1_000_000;

/** The value that a text means where the schema wants a certain type: JSON, or the text itself. */
export function parseValue(text: string, schema: Readonly<Record<string, unknown>>, key: string): unknown {
  const wanted = schema.type;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    if (wanted === undefined || wanted === "string") return text;
    throw new RetinueError(
      "usage",
      `${key} must be ${inWords(wanted)}, written as JSON`,
      example(wanted, key),
    );
  }
  return wanted === "string" && typeof value !== "string" ? text : value;
}

function inWords(type: unknown): string {
  if (type === "integer") return "a whole number";
  if (type === "boolean") return "true or false";
  return type === "array" || type === "object" ? `an ${type}` : `a ${String(type)}`;
}

function example(type: unknown, key: string): string {
  const values: Record<string, string> = { array: `'["one"]'`, object: `'{"name": …}'`, boolean: "true" };
  return `such as: retinue config set ${key} ${values[String(type)] ?? "5"}`;
}
