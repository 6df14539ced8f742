import { spawn } from "node:child_process";
import { createProgram } from "@retinue/cli/program";
import type { Terminal } from "@retinue/cli/terminal";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { MAIN, World } from "./world.ts";

const env = { RETINUE_DISCOVER: "0", RETINUE_KEYRING: "off", TERM: "xterm" };
/** Reads its task from stdin if it is given none, and so waits for the end of it. */
const READS_STDIN = new Set(["run", "plan", "plan make", "spawn", "tui --linear"]);
/** Goes on until it is stopped. */
const ENDLESS = new Set(["serve"]);

const nowhere: Terminal = {
  env: {},
  cwd: "/",
  stdin: process.stdin,
  interactive: false,
  columns: null,
  hasScreen: false,
  print() {},
  tell() {},
  prompt() {},
};

/** Every command as it could be typed, with a word for each argument it must have. */
function commandLines(command: Command, above: readonly string[] = []): string[][] {
  return command.commands.flatMap((each) => {
    const names = [...above, each.name()];
    const words = each.registeredArguments.flatMap((argument) =>
      argument.required ? [argument.argChoices?.[0] ?? "x"] : [],
    );
    return [[...names, ...words], ...commandLines(each, names)];
  });
}

type Stdin = "nothing" | "closed" | "an open pipe";

/** Calls the program with something else than a terminal at every end. */
async function call(world: World, args: readonly string[], stdin: Stdin) {
  const command =
    stdin === "closed" ? ["sh", "-c", 'exec "$0" "$@" <&-', process.execPath] : [process.execPath];
  const [program = "", ...before] = command;
  const child = spawn(program, [...before, MAIN, ...args], {
    cwd: world.project,
    env: world.environment(env),
    stdio: [stdin === "an open pipe" ? "pipe" : "ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdout?.resume();
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { args: args.join(" "), code, stderr };
}

test("every command ends without a terminal, with an exit code and without a stack", async () => {
  await using world = new World();
  const lines = commandLines(await createProgram({ terminal: nowhere, exitCode: 0 }));
  const all = [[], ["tui", "--linear"], ...lines.filter(([name = ""]) => !ENDLESS.has(name))];
  expect(all.length).toBeGreaterThan(50);
  const waiting = [...all];
  const ended: Awaited<ReturnType<typeof call>>[] = [];
  const work = async () => {
    for (let args = waiting.shift(); args; args = waiting.shift()) {
      const readsStdin = READS_STDIN.has(args.filter((word) => word !== "x").join(" "));
      ended.push(await call(world, args, readsStdin ? "nothing" : "an open pipe"));
    }
  };
  await Promise.all([work(), work(), work()]);
  const broken = ended.filter(
    ({ code, stderr }) => code === null || /defect|\n\s+at .*:\d+:\d+/.test(stderr),
  );
  expect(broken).toEqual([]);
}, 300_000);

test.each(["nothing", "closed", "an open pipe"] as const)(
  "the screen says that it needs a terminal, and what to use instead, with stdin %s",
  async (stdin) => {
    await using world = new World();
    for (const args of [["tui"], ["tui", "-c"], ["tui", "--agent", "coder"]]) {
      const { code, stderr } = await call(world, args, stdin);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/^error: there is no terminal to draw on\nhint: .*retinue run.*--linear\n$/),
      ]);
    }
  },
);

test.each([
  [["accounts", "add", "imap"], "--address"],
  [["accounts", "add", "slack"], "--token-stdin"],
  [["agents", "new", "scout"], "--description"],
])("%s names the flag instead of asking nobody", async (args, flag) => {
  await using world = new World();
  const { code, stderr } = await call(world, args, "an open pipe");
  expect([code, stderr]).toEqual([2, expect.stringContaining(flag)]);
});
