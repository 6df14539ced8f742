import { spawnSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { World } from "./world.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));
const isThere = (shell: string) =>
  process.env.RETINUE_NO_SKIP === "1" || spawnSync(shell, ["--version"]).status === 0;

/** A machine with `retinue` on its PATH and the script of a shell in a file. */
async function worldWith(
  shell: string,
): Promise<{ world: World; script: string; ask(code: string): string }> {
  const world = new World();
  const program = world.writeAt(
    join(world.home, "bin/retinue"),
    `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`,
  );
  chmodSync(program, 0o755);
  const printed = await world.run(["completion", shell]);
  expect([printed.code, printed.stderr]).toEqual([0, ""]);
  const script = world.writeAt(join(world.home, `complete.${shell}`), printed.stdout);
  const env = {
    PATH: `${join(world.home, "bin")}:${process.env.PATH}`,
    HOME: world.home,
    XDG_CONFIG_HOME: world.config,
    RETINUE_HOME: world.data,
    SCRIPT: script,
  };
  const ask = (code: string) => {
    const { stdout, stderr } = spawnSync(shell, ["-c", code], { env, cwd: world.project, encoding: "utf8" });
    expect(stderr).toBe("");
    return stdout.trim();
  };
  return { world, script, ask };
}

test("bash completes commands, flags, their choices, agents, sessions, keys and paths", async () => {
  const { world, ask } = await worldWith("bash");
  await using _ = world;
  world.agent("zebra", "");
  world.write("some file.md", "");
  await world.run(["run", "-m", "offline", "-p", "list the files"]);
  const complete = (...words: string[]) => {
    const list = words.map((word) => `'${word}'`).join(" ");
    const code = `source "$SCRIPT"; COMP_WORDS=(retinue ${list}); COMP_CWORD=${words.length}; _retinue; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return ask(code).split("\n");
  };
  expect(complete("doc")).toEqual(["doctor"]);
  expect(complete("agents", "")).toEqual(expect.arrayContaining(["list", "new", "import"]));
  expect(complete("run", "--output-fo")).toEqual(["--output-format"]);
  expect(complete("run", "--output-format", "s")).toEqual(["stream-json"]);
  expect(complete("run", "--output-format", "=", "j")).toEqual(["json"]);
  expect(complete("run", "--agent", "ze")).toEqual(["zebra"]);
  expect(complete("-C", world.project, "agents", "show", "ze")).toEqual(["zebra"]);
  expect(complete("trace", "ses_")).toEqual([expect.stringMatching(/^ses_\w+$/)]);
  expect(complete("config", "set", "limits.tu")).toEqual(["limits.turns"]);
  expect(complete("agents", "check", "some")).toEqual(["some file.md"]);
  expect(complete("completion", "f")).toEqual(["fish"]);
  expect(complete("run", "a task", "")).toEqual([""]);
  expect(complete("nonsense", "")).toEqual([""]);
});

test.skipIf(!isThere("fish"))("fish completes the same", async () => {
  const { world, ask } = await worldWith("fish");
  await using _ = world;
  world.agent("zebra", "");
  const complete = (line: string) =>
    ask(`source $SCRIPT; complete -C '${line}'`)
      .split("\n")
      .map((row) => row.split("\t")[0]);
  expect(complete("retinue doc")).toEqual(["doctor"]);
  expect(complete("retinue run --output-format s")).toEqual(["stream-json"]);
  expect(complete("retinue run --agent ze")).toEqual(["zebra"]);
  expect(complete("retinue agents show ze")).toEqual(["zebra"]);
  expect(complete("retinue config set limits.tu")).toEqual(["limits.turns"]);
});

test.skipIf(!isThere("zsh"))("zsh completes the same, and says what each word means", async () => {
  const { world, ask } = await worldWith("zsh");
  await using _ = world;
  world.agent("zebra", "");
  // What zsh itself would be called with.
  const stubs = `compdef() { }; compset() { print cut at: $2 }; _files() { print files $1 }
    _describe() { shift $(($# - 2)); print -l -- \${(P)2} }`;
  const complete = (...words: string[]) =>
    ask(
      `${stubs}; source "$SCRIPT"; words=(retinue ${words.map((word) => `'${word}'`).join(" ")}); CURRENT=$#words; _retinue`,
    ).split("\n");
  expect(complete("")).toContain("doctor:see whether everything is in place");
  expect(complete("agents", "")).toContain("show:show one agent in full");
  expect(complete("run", "--agent", "z")).toContain("zebra:Plays zebra.");
  expect(complete("run", "--output-format=j")).toEqual(["cut at: *=", "text:", "json:", "stream-json:"]);
  expect(complete("run", "--out", "")).toEqual(["files -/"]);
  expect(complete("agents", "check", "")).toEqual(["files"]);
});

test("names with characters that are special to a shell are not completed, and completion never fails", async () => {
  await using world = new World();
  world.write(".retinue/agents/$(touch pwned).md", "---\ndescription: x\n---\n");
  world.write(".retinue/agents/good.md", "---\nname: good\ndescription: 'a\u001b[31m`b`'\n---\n");
  const agents = await world.run(["__complete", "spawn", ""]);
  for (const line of agents.stdout.trim().split("\n")) expect(line).toMatch(/^[\w][\w.@-]*\t/);
  expect(agents.stdout).toContain("good\t");
  expect(agents.stdout).not.toContain("\u001b");
  for (const args of [
    ["trace", ""],
    ["plan", "show", ""],
    ["nonsense", ""],
    ["run", "x", ""],
  ]) {
    const { code, stdout, stderr } = await world.run(["__complete", ...args]);
    expect([code, stdout, stderr]).toEqual([0, "", ""]);
  }
});
