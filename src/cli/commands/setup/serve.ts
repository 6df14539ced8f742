import { type Command, InvalidArgumentError } from "commander";
import type { Cli } from "../../program.ts";
import type { ServeOptions } from "../../serve/serve.ts";
import { countNumber } from "../numbers.ts";
import { permissionMode } from "../permission-mode.ts";

const HIGHEST_PORT = 65_535;

/** Registers `retinue serve`, which is also what `npm start` alone does. */
export function registerServe(program: Command, cli: Cli): void {
  program
    .command("serve")
    .description("open the web app: watch agents work, answer them, edit them; on this machine only")
    .option("--port <n>", "listen here; 7477 or the next free one by default", portNumber)
    .option("--host <name>", "127.0.0.1, localhost or ::1", "127.0.0.1")
    .option("--no-open", "open no browser, only print the link")
    .option("--agent <name>", "the agent that answers; `main` or the only one by default")
    .option("-m, --model <model>", "an alias or provider/model-id")
    .addOption(permissionMode())
    .option("--approval-minutes <n>", "deny what nobody answers for so long; 0 is never", countNumber, 60)
    .action(async (_options: unknown, command: Command) => {
      const { serve } = await import("../../serve/serve.ts");
      cli.exitCode = await serve(command.optsWithGlobals<ServeOptions>(), cli.terminal);
    });
}

function portNumber(text: string): number {
  const port = countNumber(text);
  if (port <= HIGHEST_PORT) return port;
  throw new InvalidArgumentError(`It must be at most ${HIGHEST_PORT}.`);
}
