import { expect, test } from "vitest";
import { createProgram, withRun } from "./program.ts";
import { createTerminal } from "./terminal.ts";

const host = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: {},
  cwd: () => "/",
};
const program = createProgram({ terminal: createTerminal(host), exitCode: 0 });
const read = (...args: string[]) => withRun(program, args).join(" | ");

test("a task without a command is a run", () => {
  expect(read("fix the build")).toBe("run | fix the build");
  expect(read("-m", "x/y", "fix the build")).toBe("run | -m | x/y | fix the build");
  expect(read("--model=x/y", "-C", "dir", "fix the build", "--json")).toBe(
    "run | --model=x/y | -C | dir | fix the build | --json",
  );
  expect(read("-p")).toBe("run | -p");
  expect(read("--", "--odd task")).toBe("run | -- | --odd task");
});

test("commands, single words, help and unknown flags stay as they are", () => {
  for (const args of [
    ["agents", "list"],
    ["agnets"],
    ["-C", "dir", "agents", "list"],
    ["--help"],
    ["--nope", "a b"],
    ["--json"],
  ]) {
    expect(withRun(program, args)).toEqual(args);
  }
});
