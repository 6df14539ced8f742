import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { didYouMean } from "../../agents/closest.ts";
import { parseAgentValue } from "../../agents/define-agent.ts";
import { checkSettings } from "../../config/check-settings.ts";
import { EditFault, editJson } from "../../config/edit-json.ts";
import { locateJson } from "../../config/locate-json.ts";
import { refuseWidening } from "../../config/narrow-settings.ts";
import { isRecord, readSettingsFile, type SettingsFile } from "../../config/read-settings-file.ts";
import { parseRule } from "../../permissions/rule.ts";
import type { Problem } from "../../schema/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import { type CommonOptions, type OpenProject, openProject, settingsFiles } from "../open-project.ts";
import { plainJson, plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { writeWhole } from "../write-whole.ts";
import { effectiveSettings } from "./effective-settings.ts";
import { isSecret, masked } from "./mask-secrets.ts";
import { parseKey, schemaOf, showKey, valueAt } from "./setting-key.ts";
import { parseValue, valueFromStdin } from "./setting-value.ts";
import { showOrigin } from "./show-settings.ts";

/** Options of `retinue config set` and `unset`. */
export type SetOptions = CommonOptions & { global?: boolean; project?: boolean };

/** `retinue config set`: checks the file as it would be, and only then writes it. */
export async function setSetting(
  key: string,
  text: string,
  options: SetOptions,
  terminal: Terminal,
): Promise<void> {
  const keys = parseKey(key);
  const schema = schemaOf(keys);
  if (isSecret(keys) && text !== "-")
    terminal.tell("warning: your shell may keep this secret in its history; give it by stdin: … set KEY -");
  const value = parseValue(text === "-" ? await valueFromStdin(terminal) : text, schema, showKey(keys));
  await change(keys, value, options, terminal);
}

/** `retinue config unset`: takes a key out of a file. */
export async function unsetSetting(key: string, options: SetOptions, terminal: Terminal): Promise<void> {
  await change(parseKey(key), undefined, options, terminal);
}

async function change(
  keys: readonly string[],
  value: unknown,
  options: SetOptions,
  terminal: Terminal,
): Promise<void> {
  const project = await openProject(options, terminal);
  const scope = options.project ? "project" : "user";
  const file = settingsFiles(project)[scope];
  const { text, before } = await readNow(file);
  const edited = edit(text, keys, value);
  if (edited !== text) {
    const after = fileOf(file, edited);
    await refuseFaults({ before, after, keys, scope }, project);
    const own = scope === "user" ? { mode: 0o600, folderMode: 0o700 } : { within: project.projectDir };
    await writeWhole(file, edited, own);
  }
  await report({ keys, value, file, changed: edited !== text }, options, terminal);
}

async function readNow(file: string): Promise<{ text: string; before: SettingsFile }> {
  const read = await readSettingsFile(file);
  if (!read) return { text: "{}\n", before: { file, value: {}, lines: new Map() } };
  if ("problem" in read)
    throw new RetinueError("config", `${file}: ${read.problem.message}`, read.problem.fix);
  return { text: await readFile(file, "utf8"), before: read };
}

function edit(text: string, keys: readonly string[], value: unknown): string {
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

function fileOf(file: string, text: string): SettingsFile {
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

/** Refuses what would be wrong, or without effect, and was not so before. */
async function refuseFaults({ before, after, keys, scope }: Change, project: OpenProject): Promise<void> {
  const knowledge = { suggest: didYouMean, ruleFault };
  const old = (await checkSettings(before, knowledge)).problems;
  const faults = (await checkSettings(after, knowledge)).problems.concat(agentFaults(after, project));
  refuseNew(old.concat(agentFaults(before, project)), faults, keys);
  if (scope !== "project") return;
  const lineOf = () => 1;
  const refused = refuseWidening(after.value, after.file, lineOf).problems;
  const known = new Set(
    refuseWidening(before.value, before.file, lineOf).problems.map(({ message }) => message),
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

function ruleFault(text: string): string | undefined {
  const rule = parseRule(text);
  return "error" in rule ? rule.error : undefined;
}

type Changed = { keys: readonly string[]; value: unknown; file: string; changed: boolean };

/** Says what was done, and what holds now if that is something else. */
async function report(
  { keys, value, file, changed }: Changed,
  options: SetOptions,
  terminal: Terminal,
): Promise<void> {
  const key = showKey(keys);
  const settings = await effectiveSettings(options, terminal);
  const holds = valueAt(settings.value, keys);
  if (options.json) {
    const shown = {
      key,
      value: masked(value, keys) ?? null,
      file,
      changed,
      effective: masked(holds, keys) ?? null,
    };
    return terminal.print(plainJson(shown, 2));
  }
  const now = value === undefined ? "removed" : `= ${plainLine(JSON.stringify(masked(value, keys)), 200)}`;
  terminal.print(changed ? `${key} ${now} in ${file}` : `nothing to change: ${key} is so already in ${file}`);
  if (isDeepStrictEqual(holds, value) || holds === undefined) return;
  const leaf = settings.leaves.find((each) => showKey(each.keys) === key);
  const by = leaf ? ` (${leaf.origins.map((each) => showOrigin(each, "")).join(" + ")})` : "";
  terminal.tell(`note: what holds here is ${plainLine(JSON.stringify(masked(holds, keys)), 200)}${by}`);
}
