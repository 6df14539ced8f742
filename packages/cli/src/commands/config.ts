import { type Command, Option } from "commander";
import type { SetOptions } from "../config/set-setting.ts";
import type { GetOptions, ListOptions } from "../config/show-settings.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

const KEY = 'such as limits.turns, or prices["openai/gpt-4.1"].input where a name has dots';

/** Registers `retinue config` with everything below it. */
export function registerConfig(program: Command, cli: Cli): void {
  const config = program
    .command("config")
    .summary("read and change settings")
    .description("read and change the settings, and see who set what")
    .helpCommand(false)
    .addHelpText(
      "after",
      listExamples("retinue config list --show-origin", "retinue config set limits.turns 30"),
    );
  config
    .command("list")
    .description("list every value that holds here; secrets are hidden")
    .option("--show-origin", "say for each value which file and line it comes from")
    .option("--all", "also name the keys that are not set, and what they are for")
    .addHelpText("after", listExamples("retinue config list --show-origin", "retinue config list --all"))
    .action(async (_options: unknown, command: Command) => {
      const { listSettings } = await import("../config/show-settings.ts");
      cli.exitCode = await listSettings(command.optsWithGlobals<ListOptions>(), cli.terminal);
    });
  config
    .command("get")
    .description("print one value that holds here; exits with 1 if it is not set")
    .argument("<key>", KEY)
    .option("--reveal", "show secrets")
    .addHelpText("after", listExamples("retinue config get model", "retinue config get shell.sandbox"))
    .action(async (key: string, _options: unknown, command: Command) => {
      const { getSetting } = await import("../config/show-settings.ts");
      cli.exitCode = await getSetting(key, command.optsWithGlobals<GetOptions>(), cli.terminal);
    });
  withScope(config.command("set"))
    .description("set one value, after checking it; the rest of the file stays as it is")
    .argument("<key>", KEY)
    .argument("<value>", "JSON, or text where the setting is one; `-` reads it from stdin")
    .addHelpText(
      "after",
      listExamples(
        "retinue config set model anthropic/claude-sonnet-4-6",
        "retinue config set --project permissions.deny '[\"shell(git push *)\"]'",
      ),
    )
    .action(async (key: string, value: string, _options: unknown, command: Command) => {
      const { setSetting } = await import("../config/set-setting.ts");
      await setSetting(key, value, command.optsWithGlobals<SetOptions>(), cli.terminal);
    });
  withScope(config.command("unset"))
    .description("take one value out of a settings file")
    .argument("<key>", KEY)
    .addHelpText("after", listExamples("retinue config unset limits.turns"))
    .action(async (key: string, _options: unknown, command: Command) => {
      const { unsetSetting } = await import("../config/set-setting.ts");
      await unsetSetting(key, command.optsWithGlobals<SetOptions>(), cli.terminal);
    });
  registerShowing(config, cli);
}

function registerShowing(config: Command, cli: Cli): void {
  config
    .command("path")
    .description("print where the settings files are")
    .addHelpText("after", listExamples("retinue config path"))
    .action(async (_options: unknown, command: Command) => {
      const { showPaths } = await import("../config/show-settings.ts");
      await showPaths(command.optsWithGlobals(), cli.terminal);
    });
  config
    .command("schema")
    .description("print the JSON Schema of settings files, for editors")
    .addHelpText("after", listExamples("retinue config schema > settings.schema.json"))
    .action(async () => {
      const { showSchema } = await import("../config/show-settings.ts");
      showSchema(cli.terminal);
    });
}

function withScope(command: Command): Command {
  return command
    .addOption(new Option("--global", "in your own settings (the default)").conflicts("project"))
    .option("--project", "in the project's settings, which may only narrow yours");
}
