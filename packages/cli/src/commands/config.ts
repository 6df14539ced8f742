import { statSync } from "node:fs";
import { PUBLISHED_SETTINGS_SCHEMA } from "@retinue/core/settings/settings-schema";
import { cutToLine, stripControls, writeJson } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { type EffectiveSettings, loadEffectiveSettings, showOrigin } from "../effective-settings.ts";
import { EXIT } from "../exit-code.ts";
import { findProjectDir, findSettingsFiles, openProject } from "../open-project.ts";
import {
  findSettingSchema,
  KEY_FORM,
  listKnownKeys,
  maskSecrets,
  parseKey,
  readValueAt,
  showKey,
} from "../setting-key.ts";
import { type Cli, changeOptions, printResult, type Terminal } from "../terminal.ts";
import { drawTable } from "../text-layout.ts";
import { registerConfigSet } from "./config-set.ts";

/** Declares `retinue config` with everything below it. */
export default function registerConfig(config: CliCommand): void {
  config
    .description("read and change the settings, and see who set what")
    .helpCommand(false)
    .examples("retinue config list --show-origin", "retinue config set limits.turns 30");
  config
    .command("list")
    .description("list every value that holds here; secrets are hidden")
    .option("--show-origin", "say for each value which file and line it comes from")
    .option("--all", "also name the keys that are not set, and what they are for")
    .examples("retinue config list --show-origin", "retinue config list --all")
    .performs(listSettings);
  config
    .command("get")
    .description("print one value that holds here; exits with 1 if it is not set")
    .argument("<key>", KEY_FORM)
    .option("--reveal", "show secrets")
    .examples("retinue config get model", "retinue config get shell.sandbox")
    .performs(getSetting);
  registerConfigSet(config);
  config
    .command("path")
    .description("print where the settings files are")
    .examples("retinue config path")
    .performs(showPaths);
  config
    .command("schema")
    .description("print the JSON Schema of settings files, for editors")
    .examples("retinue config schema > settings.schema.json")
    .performs(showSchema);
}

type ListOptions = { showOrigin?: boolean; all?: boolean };

type GetOptions = { reveal?: boolean };

const MAX_VALUE = 200;

/** `retinue config list`: the values that apply here, and with `--show-origin` where each comes from. */
async function listSettings(cli: Cli<ListOptions>): Promise<number> {
  const settings = await loadEffectiveSettings(cli);
  const leaves = settings.leaves.map(({ keys, value, origins }) => ({
    key: showKey(keys),
    value: maskSecrets(value, keys),
    origins,
  }));
  tellProblems(settings, cli);
  const dir = findProjectDir(cli);
  const rows = leaves
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ key, value, origins }) => [
      cutToLine(key, MAX_VALUE),
      cutToLine(JSON.stringify(value), MAX_VALUE),
      ...(cli.options.showOrigin
        ? [cutToLine(origins.map((each) => showOrigin(each, dir)).join(" + "), 300)]
        : []),
    ]);
  printResult(cli, {
    value: leaves.map(({ origins, ...leaf }) => ({ ...leaf, ...(cli.options.showOrigin && { origins }) })),
    text: () => [
      ...drawTable(rows),
      ...(cli.options.all ? ["", ...listUnset(leaves.map(({ key }) => key))] : []),
    ],
  });
  return settings.problems.some(({ severity }) => severity === "error") ? EXIT.config : EXIT.ok;
}

/** `retinue config get`: one value that applies; 1 if there is none. */
async function getSetting(text: string, cli: Cli<GetOptions>): Promise<number> {
  const keys = parseKey(text);
  findSettingSchema(keys);
  const settings = await loadEffectiveSettings(cli);
  tellProblems(settings, cli);
  const found = readValueAt(settings.value, keys);
  if (found === undefined) {
    cli.tell(`${showKey(keys)} is not set`);
    return EXIT.failed;
  }
  const value = cli.options.reveal ? found : maskSecrets(found, keys);
  if (value !== found && !cli.options.reveal && JSON.stringify(value) !== JSON.stringify(found))
    cli.tell("note: secrets are hidden; --reveal shows them");
  printResult(changeOptions(cli, { json: cli.options.json || typeof value !== "string" }), {
    value,
    text: () => stripControls(String(value)),
  });
  return EXIT.ok;
}

async function showPaths(cli: Cli): Promise<void> {
  const project = await openProject(cli);
  const files = findSettingsFiles(project);
  const entries = (["user", "project"] as const).map((scope) => ({
    scope,
    file: files[scope],
    exists: statSync(files[scope], { throwIfNoEntry: false }) !== undefined,
  }));
  const rows = entries.map(({ scope, file, exists }) => [scope, file + (exists ? "" : " (not there yet)")]);
  printResult(cli, { value: entries, text: () => drawTable(rows) });
}

function showSchema(cli: Cli): void {
  cli.print(writeJson(PUBLISHED_SETTINGS_SCHEMA, 2));
}

function tellProblems({ problems }: EffectiveSettings, terminal: Terminal): void {
  for (const { file, line, severity, message, fix } of problems)
    terminal.tell(`${severity}: ${stripControls(`${file}:${Math.max(1, line)}: ${message} (${fix})`)}`);
}

/** The keys that nobody has set, with what they are for. */
function listUnset(set: readonly string[]): string[] {
  const isSet = (key: string) =>
    set.some((each) => each === key || each.startsWith(`${key}.`) || each.startsWith(`${key}[`));
  const rows = listKnownKeys()
    .filter(({ key }) => key !== "$schema" && !isSet(key))
    .map(({ key, about }) => [`# ${key}`, cutToLine(about, 160)]);
  return ["# not set:", ...drawTable(rows)];
}
