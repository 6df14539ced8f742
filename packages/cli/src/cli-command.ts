import { Command, Option } from "commander";
import { EXIT } from "./exit-code.ts";
import { listShared, type SharedOption } from "./options.ts";
import type { Invocation } from "./terminal.ts";

/** A command of ours: with examples below its help, and an action that is an ordinary function. */
export class CliCommand extends Command {
  readonly #cli: Invocation;

  constructor(name: string | undefined, cli: Invocation) {
    super(name);
    this.#cli = cli;
  }

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name, this.#cli);
  }

  /** The lines below the help. */
  examples(...lines: readonly string[]): this {
    const title = lines.length === 1 ? "Example" : "Examples";
    return this.addHelpText("after", `\n${title}:\n${lines.map((line) => `  ${line}`).join("\n")}`);
  }

  /** An option whose value is one of some words. */
  oneOf(flags: string, about: string, words: readonly string[], byDefault?: string): this {
    const option = new Option(flags, about).choices(words);
    return this.addOption(byDefault === undefined ? option : option.default(byDefault));
  }

  /** Options that several commands have. */
  shares(...names: readonly SharedOption[]): this {
    for (const option of listShared(names)) this.addOption(option);
    return this;
  }

  /** What the command does: it gets the arguments, then the terminal with all options, and may return an exit code. */
  performs<Given extends readonly unknown[]>(work: (...given: Given) => unknown): this {
    return this.action(async (...called) => {
      const command: CliCommand = called.at(-1);
      const cli = { ...this.#cli.terminal, options: command.optsWithGlobals() };
      const code: unknown = await Reflect.apply(work, undefined, [...called.slice(0, -2), cli]);
      this.#cli.exitCode = typeof code === "number" ? code : EXIT.ok;
    });
  }
}
