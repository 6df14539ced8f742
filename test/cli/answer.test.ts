import { mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

const SCHEMA = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] };

test("an answer by a schema is printed as JSON alone, after one repair if need be", async () => {
  await using world = new World();
  world.model = await startModel(({ turn }) => ({
    text: turn === 0 ? "There are three." : '```json\n{"total": 3, "why": "\u009b31m"}\n```',
  }));
  world.agent("main", "");
  world.write("schema.json", JSON.stringify(SCHEMA));
  const { code, stdout } = await world.call(["run", "count", "-p", "--json-schema", "schema.json"]);
  expect([code, JSON.parse(stdout)]).toEqual([0, { total: 3, why: "\u009b31m" }]);
  expect(stdout).not.toContain("\u009b");
  expect(world.model.requests).toHaveLength(2);
  expect(world.model.requests[1]?.last).toContain("it is not JSON");
});

test("an answer that does not fit is not printed, and the error says where it does not", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ text: '{"total": "three"}' }));
  world.agent("main", "");
  const { code, stdout, stderr } = await world.call([
    "run",
    "count",
    "--json-schema",
    JSON.stringify(SCHEMA),
  ]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^error: .*total: the type "string" is invalid/m);
});

/** An agent that writes two files into its workspace and does what else the test wants. */
async function writingWorld(): Promise<World> {
  const world = new World();
  const files = ["report.html", "data/corpus.json"];
  world.model = await startModel(({ turn }) =>
    turn > 0
      ? { text: "written" }
      : {
          calls: files.map((path) => ({
            name: "write",
            input: { path: `workspace:${path}`, content: path },
          })),
        },
  );
  world.agent("main", "");
  return world;
}

test("--out copies what the session left in its workspace", async () => {
  await using world = await writingWorld();
  const { code, stdout, stderr } = await world.call(["run", "write", "--out", "made/here"]);
  expect([code, stdout]).toEqual([0, "written\n"]);
  expect(stderr).toContain(`2 files copied to ${join(world.project, "made/here")}`);
  expect(world.read("made/here/report.html")).toBe("report.html");
  expect(world.read("made/here/data/corpus.json")).toBe("data/corpus.json");
});

test("--out without a name is refused before anything is spent", async () => {
  await using world = await writingWorld();
  const { code, stderr } = await world.call(["run", "write", "--out", ""]);
  expect([code, stderr]).toEqual([42, expect.stringContaining("it names no folder")]);
  expect(world.model?.requests).toEqual([]);
});

test("--out follows no link at a place where a file or folder is to be copied", async () => {
  await using world = await writingWorld();
  const precious = world.writeAt(join(world.home, "precious"), "precious");
  mkdirSync(join(world.home, "elsewhere"));
  mkdirSync(join(world.project, "out"));
  symlinkSync(precious, join(world.project, "out/report.html"));
  symlinkSync(join(world.home, "elsewhere"), join(world.project, "out/data"));
  const { code, stderr } = await world.call(["run", "write", "--out", "out"]);
  expect(code).toBe(0);
  expect(stderr).toContain("warning: report.html was not copied");
  expect(stderr).toContain("warning: data/corpus.json was not copied");
  expect(readFileSync(precious, "utf8")).toBe("precious");
  expect(readdirSync(join(world.home, "elsewhere"))).toEqual([]);
});
