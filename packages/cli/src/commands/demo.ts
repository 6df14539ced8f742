import { type Command, Option } from "commander";
import type { DemoOptions } from "../setup/demo.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue demo`. */
export function registerDemo(program: Command, cli: Cli): void {
  program
    .command("demo")
    .summary("watch agents at work, without a key")
    .description("watch agents delegate in a small example project; needs no key and no network")
    .addOption(
      new Option("--output-format <format>", "how the result is printed")
        .choices(["text", "json", "stream-json"])
        .default("text"),
    )
    .addHelpText("after", listExamples("retinue demo", "retinue demo --output-format stream-json"))
    .action(async (_options: unknown, command: Command) => {
      const { runDemo } = await import("../setup/demo.ts");
      cli.exitCode = await runDemo(command.optsWithGlobals<DemoOptions>(), cli.terminal);
    });
}
