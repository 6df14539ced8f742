import { existsSync } from "node:fs";
import type { CommandRequest, Enclosure } from "./run-command.ts";

/** All that a command sees of the environment: the usual few, what the settings name, and what the request adds. */
export function commandEnvironment(
  { settings, places }: Enclosure,
  request: Pick<CommandRequest, "env">,
  given: { PATH: string; HOME: string },
): Record<string, string> {
  const named = settings.env.flatMap((name) => {
    const value = places.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { LANG = "C.UTF-8" } = places.env;
  return {
    ...given,
    LANG,
    TERM: "dumb",
    TMPDIR: "/tmp",
    CI: "1",
    ...Object.fromEntries(named),
    ...request.env,
  };
}

/** Says that the sandbox is ready, and waits until the command may begin; it never does if nobody is there to say so. */
const WAIT_AT_GATE = "echo ready >&5; read -r go <&5 || exit 125; ";
/** Closes what the process that runs Retinue was itself given open, then becomes the command. */
const CLOSE_FILES =
  'for f in /proc/self/fd/*; do f=${f##*/}; if ((f > 2)); then exec {f}>&-; fi; done; exec "$@"';
const CLOSE_FEW_FILES = 'exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec "$@"';

/** Goes before what runs in a sandbox: waits to be let in, and keeps no open files but the usual three. */
export function enterSandbox(): readonly string[] {
  return existsSync("/bin/bash")
    ? ["/bin/bash", "-c", WAIT_AT_GATE + CLOSE_FILES, "bash"]
    : ["/bin/sh", "-c", WAIT_AT_GATE + CLOSE_FEW_FILES, "sh"];
}

/** A program that does not exist is an exit code of a shell. */
export function withShell(argv: readonly string[]): readonly string[] {
  return ["/bin/sh", "-c", 'exec "$@"', "sh", ...argv];
}

/** The program and arguments of a request. */
export function argvOf({ script, argv = [] }: Pick<CommandRequest, "script" | "argv">): readonly string[] {
  if (script === undefined) return argv;
  return [existsSync("/bin/bash") ? "/bin/bash" : "/bin/sh", "-c", script];
}
