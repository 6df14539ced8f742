import { type Command, InvalidArgumentError } from "commander";
import type { ServeOptions } from "../setup/serve.ts";
import type { Cli } from "../terminal.ts";
import { createModeOption, listExamples, parseCount } from "./options.ts";

const HIGHEST_PORT = 65_535;

/** Registers `retinue serve`, which is also what `npm start` alone does. */
export function registerServe(program: Command, cli: Cli): void {
  program
    .command("serve")
    .summary("open the web app")
    .description("open the web app: watch agents work, answer them, edit them; on this machine only")
    .option("--port <n>", "listen here; 7477 or the next free one by default", parsePort)
    .option("--host <name>", "127.0.0.1, localhost or ::1", "127.0.0.1")
    .option("--no-open", "open no browser, only print the link")
    .option("--agent <name>", "the agent that answers; `main` or the only one by default")
    .option("-m, --model <model>", "an alias or provider/model-id")
    .addOption(createModeOption())
    .option("--approval-minutes <n>", "deny what nobody answers for so long; 0 is never", parseCount, 60)
    .addHelpText("after", listExamples("retinue serve", "retinue serve --port 8080 --no-open"))
    .action(async (_options: unknown, command: Command) => {
      const { serveApp } = await import("../setup/serve.ts");
      cli.exitCode = await serveApp(command.optsWithGlobals<ServeOptions>(), cli.terminal);
    });
}

function parsePort(text: string): number {
  const port = parseCount(text);
  if (port <= HIGHEST_PORT) return port;
  throw new InvalidArgumentError(`It must be at most ${HIGHEST_PORT}.`);
}
