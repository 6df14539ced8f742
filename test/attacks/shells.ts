import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CommandHost } from "@retinue/code/shell/command";
import { createShell } from "@retinue/code/shell/shell";
import type { ShellSettings } from "@retinue/core/schema/settings";
import { DEFAULT_SHELL } from "@retinue/core/settings/default-settings";
import { callTool, say } from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { type Attack, resultsSeen, type World } from "./attack.ts";

/** The end of a script. */
export const done = say("done");
/** Must never be seen in a result; unknown to the redactor. */
export const CANARY = ["quiet", "canary", "4711"].join("-");
/** How long the unprotected shell waits for a command that never ends. */
const PATIENCE_MS = 3_000;

/** Every command in a turn of its own. */
export const commands = (...all: readonly string[]) => ({
  lead: [...all.map((command) => callTool("shell", { command })), done],
});

/** Without protection only the first command is given: it touches nothing but what the case itself has made. */
export const harmless = ({ broken }: World, first: string, ...others: readonly string[]) =>
  commands(first, ...(broken ? [] : others));

/** Puts a file outside the project and gives its path. */
export function outside(world: World, path: string, content = CANARY): string {
  const file = join(world.outsideDir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

/**
 * The shell under attack. Its settings are its own, so that a case can tighten them. Nobody is asked about a command here,
 * so that the sandbox is what holds.
 */
export function guarded(
  world: World,
  settings: Partial<ShellSettings> = {},
  host: CommandHost = {},
): AnyTool {
  const {
    withSettings: _,
    confirm: _asks,
    ...tool
  } = createShell(
    { ...DEFAULT_SHELL, ...settings },
    { homeDir: join(world.outsideDir, "home"), dataDir: world.dataDir, ...host },
  );
  return tool;
}

/** What a shell is without any of its protection: the host's, with all its rights, waiting for everything. */
export const naked: AnyTool = defineTool<{ command: string }>({
  name: "shell",
  description: "Runs a command.",
  groups: ["shell"],
  input: { type: "object" },
  access: ({ command }) => [{ kind: "command", command }],
  execute: ({ command }, { projectDir }) =>
    new Promise((resolve) => {
      const child = spawn("/bin/bash", ["-c", command], { cwd: projectDir, timeout: PATIENCE_MS });
      let text = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
      child.once("exit", (code) => {
        child.stdin.end();
        resolve({ text: `exit code ${code}\n${text}` });
      });
    }),
});

/** The shell of a case: guarded, or naked where the case must fail. */
export const shellOf = (world: World, settings?: Partial<ShellSettings>, host?: CommandHost) =>
  world.broken ? naked : guarded(world, settings, host);
/** All results that the model was given. */
export const said = (outcome: Parameters<Attack["oracle"]>[0]) =>
  resultsSeen(outcome.t, "lead")
    .map(({ text }) => text)
    .join("\n");
