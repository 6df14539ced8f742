import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT } from "@retinue/core/files/package-root";
import type { Command } from "commander";
import { expect, test } from "vitest";
import { createProgram, insertRun } from "./program.ts";
import { createTerminal } from "./terminal.ts";

const host = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: {},
  cwd: () => "/",
};
const program = await createProgram({ terminal: createTerminal(host), exitCode: 0 });
const read = (...args: string[]) => insertRun(program, args).join(" | ");

test("a task without a command is a run", () => {
  expect(read("fix the build")).toBe("run | fix the build");
  expect(read("-m", "x/y", "fix the build")).toBe("run | -m | x/y | fix the build");
  expect(read("--model=x/y", "-C", "dir", "fix the build", "--json")).toBe(
    "run | --model=x/y | -C | dir | fix the build | --json",
  );
  expect(read("-p")).toBe("run | -p");
  expect(read("-p", "hello")).toBe("run | -p | hello");
  expect(read("--", "--odd task")).toBe("run | -- | --odd task");
});

test("flags that continue a session make a run, with an id or without", () => {
  expect(read("-c", "more")).toBe("run | -c | more");
  expect(read("-r")).toBe("run | -r");
  expect(read("-r", "ses_1")).toBe("run | -r | ses_1");
  expect(read("-r", "ses_1", "more")).toBe("run | -r | ses_1 | more");
  expect(read("--resume=ses_1", "-p", "go on now")).toBe("run | --resume=ses_1 | -p | go on now");
  expect(read("-r", "go on now")).toBe("run | -r | go on now");
});

test("commands, single words, help and unknown flags stay as they are", () => {
  for (const args of [
    ["agents", "list"],
    ["agnets"],
    ["-C", "dir", "agents", "list"],
    ["--help"],
    ["--nope", "a b"],
    ["-p", "agents"],
    ["--json"],
  ]) {
    expect(insertRun(program, args)).toEqual(args);
  }
});

function everyCommand(command: Command, path = ""): [string, Command][] {
  return command.commands.flatMap((each) => {
    const words = `${path} ${each.name()}`.trim();
    return [[words, each] as [string, Command], ...everyCommand(each, words)];
  });
}

function readHelp(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text;
}

test("every command's help shows how it is called, once", () => {
  for (const [name, command] of everyCommand(program))
    expect(readHelp(command).match(/^Examples?:$/gm), `retinue ${name} --help`).toHaveLength(1);
});

test("every command has its group and a summary in the program's help, which stays short", () => {
  const help = readHelp(program);
  for (const command of program.commands) {
    expect(command.helpGroup(), command.name()).not.toBe("");
    expect(help).toContain(command.summary());
    expect(command.summary(), command.name()).not.toBe("");
  }
  expect(help.split("\n").length).toBeLessThan(60);
});

test("every command is in the documentation", () => {
  const docs = join(PACKAGE_ROOT, "docs");
  const documents = readdirSync(docs).filter((file) => file.endsWith(".md"));
  const text = documents.map((file) => readFileSync(join(docs, file), "utf8")).join("\n");
  const missing = program.commands
    .map((command) => command.name())
    .filter((name) => !new RegExp(`(?:retinue |\`)${name}\\b`).test(text));
  expect(missing).toEqual([]);
});

test("every example is of a command that exists", () => {
  const names = program.commands.map((command) => command.name());
  const examples = everyCommand(program)
    .flatMap(
      ([, command]) =>
        readHelp(command)
          .split(/^Examples?:$/m)[1]
          ?.split("\n") ?? [],
    )
    .filter((line) => line.includes("retinue"));
  const used = examples.flatMap((line) => /\bretinue ([a-z-]+)/.exec(line)?.[1] ?? []);
  expect(used.length).toBeGreaterThan(names.length);
  expect(used.filter((name) => !names.includes(name) && !name.startsWith("-"))).toEqual([]);
});
