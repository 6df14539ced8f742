import { statSync } from "node:fs";
import { PUBLISHED_SETTINGS_SCHEMA } from "../../config/settings-schema.ts";
import { shortPath } from "../agents/show-source.ts";
import { EXIT } from "../exit-code.ts";
import { type CommonOptions, openProject, projectDirOf, settingsFiles } from "../open-project.ts";
import { plainJson, plainLine, plainText, table } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { type EffectiveSettings, effectiveSettings, type Origin } from "./effective-settings.ts";
import { masked } from "./mask-secrets.ts";
import { knownKeys, parseKey, schemaOf, showKey, valueAt } from "./setting-key.ts";

/** Options of `retinue config list`. */
export type ListOptions = CommonOptions & { showOrigin?: boolean; all?: boolean };

/** Options of `retinue config get`. */
export type GetOptions = CommonOptions & { reveal?: boolean };

const MAX_VALUE = 200;

/** `retinue config list`: what holds here, and with `--show-origin` by whose word. */
export async function listSettings(options: ListOptions, terminal: Terminal): Promise<number> {
  const settings = await effectiveSettings(options, terminal);
  const leaves = settings.leaves.map(({ keys, value, origins }) => ({
    key: showKey(keys),
    value: masked(value, keys),
    origins,
  }));
  tellProblems(settings, terminal);
  if (options.json)
    terminal.print(
      plainJson(
        leaves.map(({ origins, ...leaf }) => ({ ...leaf, ...(options.showOrigin && { origins }) })),
        2,
      ),
    );
  else {
    const dir = projectDirOf(options, terminal);
    const rows = leaves
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
      .map(({ key, value, origins }) => [
        plainLine(key, MAX_VALUE),
        plainLine(JSON.stringify(value), MAX_VALUE),
        ...(options.showOrigin
          ? [plainLine(origins.map((each) => showOrigin(each, dir)).join(" + "), 300)]
          : []),
      ]);
    terminal.print(table(rows).join("\n"));
    if (options.all) terminal.print(["", ...unset(leaves.map(({ key }) => key))].join("\n"));
  }
  return settings.problems.some(({ severity }) => severity === "error") ? EXIT.config : EXIT.ok;
}

/** `retinue config get`: one value that holds; 1 if there is none. */
export async function getSetting(text: string, options: GetOptions, terminal: Terminal): Promise<number> {
  const keys = parseKey(text);
  schemaOf(keys);
  const settings = await effectiveSettings(options, terminal);
  tellProblems(settings, terminal);
  const found = valueAt(settings.value, keys);
  if (found === undefined) {
    terminal.tell(`${showKey(keys)} is not set`);
    return EXIT.failed;
  }
  const value = options.reveal ? found : masked(found, keys);
  if (value !== found && !options.reveal && JSON.stringify(value) !== JSON.stringify(found))
    terminal.tell("note: secrets are hidden; --reveal shows them");
  if (typeof value === "string" && !options.json) terminal.print(plainText(value));
  else terminal.print(plainJson(value, 2));
  return EXIT.ok;
}

/** `retinue config path`. */
export async function showPaths(options: CommonOptions, terminal: Terminal): Promise<void> {
  const project = await openProject(options, terminal);
  const files = settingsFiles(project);
  const entries = (["user", "project"] as const).map((scope) => ({
    scope,
    file: files[scope],
    exists: statSync(files[scope], { throwIfNoEntry: false }) !== undefined,
  }));
  if (options.json) return terminal.print(plainJson(entries, 2));
  const rows = entries.map(({ scope, file, exists }) => [scope, file + (exists ? "" : " (not there yet)")]);
  terminal.print(table(rows).join("\n"));
}

/** `retinue config schema`. */
export function showSchema(terminal: Terminal): void {
  terminal.print(plainJson(PUBLISHED_SETTINGS_SCHEMA, 2));
}

/** Whose word a value is, as short as can be. */
export function showOrigin({ scope, file, line, variable }: Origin, projectDir: string): string {
  if (variable) return `environment ${variable}`;
  return file ? `${shortPath(file, projectDir)}:${line ?? 1}` : scope;
}

function tellProblems({ problems }: EffectiveSettings, terminal: Terminal): void {
  for (const { file, line, severity, message, fix } of problems)
    terminal.tell(`${severity}: ${plainText(`${file}:${Math.max(1, line)}: ${message} (${fix})`)}`);
}

/** The keys that nobody has set, with what they are for. */
function unset(set: readonly string[]): string[] {
  const isSet = (key: string) =>
    set.some((each) => each === key || each.startsWith(`${key}.`) || each.startsWith(`${key}[`));
  const rows = knownKeys()
    .filter(({ key }) => key !== "$schema" && !isSet(key))
    .map(({ key, about }) => [`# ${key}`, plainLine(about, 160)]);
  return ["# not set:", ...table(rows)];
}
