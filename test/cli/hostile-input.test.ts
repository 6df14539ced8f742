import { spawn } from "node:child_process";
import { openSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

async function talkingWorld(): Promise<World> {
  const world = new World();
  world.model = await startModel(({ last }) => ({ text: `${last.length} characters` }));
  world.agent("main", "");
  return world;
}

const MAIN = fileURLToPath(new URL("../../dist/cli.js", import.meta.url));

/** Runs the program on a stdin of another kind than a pipe. */
function runOn(
  world: World,
  stdin: number | "ignore" | Buffer,
): Promise<{ code: number | null; stderr: string }> {
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: world.home,
    XDG_CONFIG_HOME: world.config,
    RETINUE_HOME: world.data,
    RETINUE_BASE_URL: world.model?.url ?? "",
    RETINUE_MODEL: "mock",
  };
  const input = Buffer.isBuffer(stdin) ? "pipe" : stdin;
  const child = spawn(process.execPath, [MAIN, "run"], {
    cwd: world.project,
    env,
    stdio: [input, "pipe", "pipe"],
  });
  if (Buffer.isBuffer(stdin)) child.stdin?.on("error", () => {}).end(stdin);
  let stderr = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.once("close", (code) => resolve({ code, stderr })));
}

test("a task on stdin that is not text is refused before a model sees it", async () => {
  await using world = await talkingWorld();
  for (const bytes of [
    Buffer.from([0x68, 0xff, 0xfe, 0x69]),
    Buffer.from("half a sign \u00e9").subarray(0, 13),
    Buffer.from("with\0null"),
    Buffer.from("utf-16", "utf16le"),
  ]) {
    const { code, stderr } = await runOn(world, bytes);
    expect([code, stderr]).toEqual([
      42,
      expect.stringMatching(/^error: the task on stdin is not text in UTF-8\nhint: /),
    ]);
  }
  expect(world.model?.requests).toEqual([]);
});

test("a stdin that is a folder, or nothing at all, holds no task", async () => {
  await using world = await talkingWorld();
  for (const stdin of [openSync(world.project, "r"), "ignore"] as const) {
    const { code, stderr } = await runOn(world, stdin);
    expect([code, stderr]).toEqual([2, expect.stringContaining("there is no task")]);
  }
});

test("a task of the longest argument arrives whole, and a longer one can come by stdin", async () => {
  await using world = await talkingWorld();
  const long = await world.call(["run", "-p", "x".repeat(120_000)]);
  expect([long.code, long.stdout]).toEqual([0, "120000 characters\n"]);
  const longer = await world.call(["run", "-p"], { input: "y".repeat(300_000) });
  expect([longer.code, longer.stdout]).toEqual([0, "300000 characters\n"]);
  const tooLong = await world.call(["run", "-p"], { input: "z".repeat(10 * 1024 * 1024 + 1) });
  expect([tooLong.code, tooLong.stderr]).toEqual([42, expect.stringContaining("larger than")]);
});

test("folders where files belong, and files where folders belong, are named", async () => {
  await using world = await talkingWorld();
  world.write("a-file", "");
  for (const [args, says] of [
    [["--json-schema", "."], "it is not a file"],
    [["--json-schema", "[1"], "cannot be read"],
    [["--json-schema", "a-file"], "is not JSON"],
    [["--json-schema", '{"$ref": "#/nowhere"}'], "the schema cannot be used"],
    [["--out", "a-file"], "--out: "],
    [["--out", "a-file/below"], "--out: "],
    [["-C", "a-file"], "is not a folder"],
  ] as const) {
    const { code, stdout, stderr } = await world.call(["run", "a task", ...args]);
    expect([args, code, stdout, stderr]).toEqual([args, 42, "", expect.stringContaining(says)]);
  }
  expect(world.model?.requests).toEqual([]);
});

test("ids with signs in them find nothing and break nothing", async () => {
  await using world = await talkingWorld();
  await world.call(["run", "-p", "a task"]);
  for (const id of ["%", "' OR 1=1 --", "../../etc", "ses_\u001b[31m", "run_%", ""]) {
    for (const command of ["cancel", "approve"]) {
      const { code, stdout, stderr } = await world.call([command, id]);
      expect([command, id, code, stdout]).toEqual([command, id, 42, ""]);
      expect(stderr).not.toContain("\u001b");
    }
  }
});
