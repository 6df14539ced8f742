import { type Command, Option } from "commander";
import type { ExportOptions } from "../history/export-session.ts";
import type { Cli } from "../terminal.ts";
import { listExamples } from "./options.ts";

/** Registers `retinue export`. */
export function registerExport(program: Command, cli: Cli): void {
  program
    .command("export")
    .summary("write everything of a session to files")
    .description("write out everything of a session; secrets are hidden already")
    .argument("<id>", "a session's id or the beginning of it; `last` for this project's last session")
    .addOption(
      new Option(
        "--format <format>",
        "md to read, json or jsonl for programs; by the name of -o, md otherwise, all in a folder",
      ).choices(["md", "json", "jsonl"]),
    )
    .option("-o, --output <file|dir>", "write there, for you alone, and not to stdout")
    .option("--files", "also copy the files of the session's workspace; -o names the folder")
    .addHelpText(
      "after",
      listExamples(
        "retinue export last                        a transcript to read, as Markdown",
        "retinue export ses_1a2b -o backup/ --files everything in a folder, with the files that agents left",
        "retinue export last --format jsonl | wc -l every row of the record, a line each",
      ),
    )
    .action(async (id: string, _options: unknown, command: Command) => {
      const { exportSession } = await import("../history/export-session.ts");
      await exportSession(id, command.optsWithGlobals<ExportOptions>(), cli.terminal);
    });
}
