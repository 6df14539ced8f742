import { type Command, Option } from "commander";
import type { DemoOptions } from "../../demo/demo.ts";
import type { Cli } from "../../program.ts";

/** Registers `retinue demo`. */
export function registerDemo(program: Command, cli: Cli): void {
  program
    .command("demo")
    .description("watch agents delegate in a small example project; needs no key and no network")
    .addOption(
      new Option("--output-format <format>", "how the result is printed")
        .choices(["text", "json", "stream-json"])
        .default("text"),
    )
    .action(async (_options: unknown, command: Command) => {
      const { demo } = await import("../../demo/demo.ts");
      cli.exitCode = await demo(command.optsWithGlobals<DemoOptions>(), cli.terminal);
    });
}
