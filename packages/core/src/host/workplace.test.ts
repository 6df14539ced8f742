import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import { defineAgent } from "../agents/define-agent.ts";
import { versionOf } from "../files/seen-files.ts";
import { parseRules } from "../rights/rule.ts";
import type { Profile, Run, SpawnRequest } from "../run/run.ts";
import type { Layer } from "../schema/rights.ts";
import { createWorkplace } from "./workplace.ts";

let root = "";
let project = "";
let workspace = "";

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-workplace-")));
  [project, workspace] = [join(root, "project"), join(root, "ses_1")];
  mkdirSync(project);
  mkdirSync(workspace);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const place = createWorkplace({
  enter: async ({ runId }) => `/copies/${runId}`,
  leave: async (_, result) => result,
  createMergeTool: () => {
    throw new Error("no test asks for it");
  },
});

const runIn = (parts: RunParts = {}): Run =>
  makeRun({ projectDir: project, workspaceDir: workspace, ...parts }).run;

/** Writes a file into the project, or where it is told to; gives its path. */
function put(name: string, content: string | Buffer = "content", folder = project): string {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const chainOf = (layer: Partial<Layer>): Layer[] => [{ name: "test", ask: [], deny: [], ...layer }];
const rules = (...texts: string[]) => parseRules(texts, "test");
const OPEN = chainOf({ allow: rules("read") });
const hand = (name: string, ...chains: Layer[][]) =>
  place.readHanded(runIn(), chains.length > 0 ? chains : [OPEN], name);

test("a file is handed over with its place, its text, and the version that was read", async () => {
  const path = put("deep/a.txt", "text\n");
  expect(await hand("deep/a.txt")).toEqual({
    ...{ name: "deep/a.txt", path, text: "text\n" },
    version: versionOf(Buffer.from("text\n")),
  });
  const kept = put("b.txt", "kept", workspace);
  expect(await hand("workspace:b.txt")).toMatchObject({ path: kept, text: "kept" });
});

test("of a long file the reader gets its beginning and where the rest is, and has not read it whole", async () => {
  put("whole.txt", "x".repeat(20_000));
  put("long.txt", `BEGIN${"x".repeat(20_000)}`);
  expect(await hand("whole.txt")).toHaveProperty("version");
  const long = await hand("long.txt");
  expect(long.text).toContain("BEGIN");
  expect(long.text).toContain("the rest is in long.txt");
  expect(long.text.length).toBeLessThan(20_100);
  expect(long).not.toHaveProperty("version");
});

test("what is too large, binary, outside or missing is not handed over, and the reason is for whom asked", async () => {
  put("large.txt", "x".repeat(5_000_001));
  put("most.txt", "x".repeat(5_000_000));
  put("binary", Buffer.from([65, 0, 66]));
  put("other.txt", "x", root);
  expect((await hand("most.txt")).text).toContain("xxx");
  const reasons = {
    "large.txt": "it has 5000001 bytes, which is too much to hand over",
    binary: "it is a binary file",
    "../other.txt": "it is outside the project and the workspace",
    "missing.txt": "missing.txt",
  };
  for (const [name, reason] of Object.entries(reasons))
    await expect(hand(name)).rejects.toMatchObject({
      code: "input",
      message: expect.stringMatching(new RegExp(`^cannot hand over .*${reason}`)),
    });
});

test("a file is handed over if the parent or the child may read it without being asked, by rules for that very file", async () => {
  put("a.txt");
  const none = chainOf({ deny: rules("read") });
  const ask = chainOf({ allow: rules("read"), ask: rules("read(a.txt)") });
  const other = chainOf({ allow: rules("read"), deny: rules("read(a.txt)") });
  const group = chainOf({ allow: rules("read"), deny: rules("filesystem") });
  const denied = "neither you nor the sub-agent may read it";
  for (const chain of [none, ask, other, group]) await expect(hand("a.txt", chain)).rejects.toThrow(denied);
  expect(await hand("a.txt", none, OPEN)).toMatchObject({ text: "content" });
  expect(await hand("a.txt", OPEN, none)).toMatchObject({ text: "content" });
});

test("a child can be sent into a folder of the project and into nothing else", async () => {
  put("deep/er/a.txt");
  mkdirSync(join(workspace, "deep"));
  symlinkSync(root, join(project, "out"));
  expect(await place.findFolder(runIn(), "deep/er")).toBe("deep/er");
  for (const cwd of ["deep/er/a.txt", "missing", "..", "out", "workspace:deep"])
    await expect(place.findFolder(runIn(), cwd)).rejects.toMatchObject({
      code: "input",
      message: `cwd must be a folder of the project, not ${JSON.stringify(cwd)}`,
    });
});

test("a long text is kept under its run's name, where nobody else can look, although the folder was gone", async () => {
  const gone = join(root, "gone");
  const run = runIn({ workspaceDir: gone, runId: "run_7" });
  const path = await place.saveArtefact(run, "../what is/it.md", "the text");
  expect(path).toBe(join(gone, "artefacts", "run_7-.._what_is_it.md"));
  expect(readFileSync(path, "utf8")).toBe("the text");
  expect(statSync(gone).mode & 0o777).toBe(0o700);
});

test("a run works in its parent's workspace, or alone in one of its own that nobody else can look into", async () => {
  const { session } = runIn({ session: { workspaceDir: workspace } });
  const enter = (kind: "shared" | "isolated", parent: Run | null = null) => {
    const agent = defineAgent({ name: "solo", description: "x", prompt: "x", workspace: kind });
    const request = { session, parent, runId: "run_9", profile: { agent } as Partial<Profile> as Profile };
    return place.enter(request as Partial<SpawnRequest> as SpawnRequest);
  };
  const own = join(`${workspace}-runs`, "run_9");
  expect(await enter("shared")).toEqual({ projectDir: "/copies/run_9", workspaceDir: workspace });
  expect(await enter("shared", runIn({ workspaceDir: "/above" }))).toMatchObject({ workspaceDir: "/above" });
  expect(await enter("isolated", runIn({ workspaceDir: "/above" }))).toMatchObject({ workspaceDir: own });
  expect(statSync(own).mode & 0o777).toBe(0o700);
});
