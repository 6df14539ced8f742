import { messageOf, RetinueError } from "@retinue/core/schema/error";
import { stripControls } from "@retinue/core/text/plain-text";
import { CommanderError } from "commander";
import { EXIT, findExitCode } from "./exit-code.ts";
import { createProgram, insertRun } from "./program.ts";
import type { Terminal } from "./terminal.ts";

/** Runs one command line and returns its exit code. Never throws: errors are printed on stderr. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<number> {
  if (args[0] === "__complete") {
    const { completeWords } = await import("./complete.ts");
    await completeWords(args.slice(1), terminal);
    return EXIT.ok;
  }
  const cli = { terminal, exitCode: EXIT.ok };
  const words = terminal.hasScreen || args.length > 0 ? insertTui(args) : args;
  try {
    const program = await createProgram(cli, words);
    if (words.length === 0) program.outputHelp();
    else await program.parseAsync(insertRun(program, words), { from: "user" });
    // A failed write is reported in a later turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (terminal.lost) return await showError(terminal.lost, terminal);
    return cli.exitCode;
  } catch (thrown) {
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? EXIT.ok : EXIT.usage;
    return showError(thrown, terminal);
  }
}

/** The arguments with `tui` put in where no command is given. */
function insertTui(args: readonly string[]): readonly string[] {
  const [first] = args;
  return first === undefined || first === "--linear" || first === "--screen-reader" ? ["tui", ...args] : args;
}

async function showError(thrown: unknown, terminal: Terminal): Promise<number> {
  terminal.tell(`error: ${stripControls(messageOf(thrown))}`);
  if (terminal.env.RETINUE_DEBUG && thrown instanceof Error) terminal.tell(thrown.stack ?? "");
  const known = thrown instanceof RetinueError ? thrown : await findMachineFault(thrown);
  if (!known) {
    terminal.tell("hint: this is a defect of Retinue; please report it with the command you ran");
    return EXIT.failed;
  }
  if (known.hint) terminal.tell(`hint: ${stripControls(known.hint)}`);
  return findExitCode(known.code);
}

async function findMachineFault(thrown: unknown): Promise<RetinueError | undefined> {
  const { machineFault } = await import("@retinue/core/record/sqlite/sqlite-failure");
  return machineFault(thrown);
}
