import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { KNOWN_SECRET, makeRun, type RunParts } from "../../../../test/fixtures/hand-made-run.ts";
import type { Deliverable } from "../schema/agent.ts";
import type { DeliverableVerdict } from "../schema/result.ts";
import type { Claim } from "./claims.ts";
import { checkDeliverables, isLeftSince, missingBefore, takeBaseline, withVerdicts } from "./deliverables.ts";
import { guards } from "./guards.ts";
import type { Run } from "./run.ts";

/** A run with folders of its own, which go when the test is over. */
function makePlace(deliverables: readonly Deliverable[], more: RunParts = {}) {
  const root = mkdtempSync(join(tmpdir(), "retinue-deliverables-"));
  const [projectDir, workspaceDir] = [join(root, "project"), join(root, "workspace")];
  for (const dir of [projectDir, workspaceDir]) mkdirSync(dir);
  const made = makeRun({ deliverables, projectDir, workspaceDir, ...more });
  const write = (name: string, text: string) => writeFileSync(join(workspaceDir, name), text);
  return {
    ...made,
    projectDir,
    workspaceDir,
    write,
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}

const checkOne = async (run: Run, text = "") =>
  (await checkDeliverables(run, text, async () => null))[0] ?? { ok: "nothing", reason: "", files: [] };

test("a file is left if it is there, not empty, and new or changed since the run began", async () => {
  using place = makePlace([{ file: "*.txt" }]);
  const { run, write, workspaceDir } = place;
  expect(await checkOne(run)).toMatchObject({ ok: false, reason: "no such file" });
  write("a.txt", "abc");
  run.baseline = await takeBaseline(run);
  expect(await checkOne(run)).toMatchObject({
    ok: false,
    reason: expect.stringContaining("did not change it"),
  });
  utimesSync(join(workspaceDir, "a.txt"), 1, 1);
  write("a.txt", "xyz");
  expect(await checkOne(run)).toMatchObject({ ok: true, files: ["a.txt"] });
  write(".b.txt", "");
  expect(await checkOne(run)).toMatchObject({ ok: false, reason: "the file is empty" });
});

test("a rewrite of the same size and time is a change", async () => {
  using place = makePlace([{ file: "a.txt" }]);
  const path = join(place.workspaceDir, "a.txt");
  place.write("a.txt", "abc");
  utimesSync(path, 1, 1);
  place.run.baseline = await takeBaseline(place.run);
  rmSync(path);
  place.write("a.txt", "xyz");
  utimesSync(path, 1, 1);
  expect(await checkOne(place.run)).toMatchObject({ ok: true });
});

test("another run's file does not count, that of a run below does", async () => {
  using place = makePlace([{ file: "a.txt" }]);
  place.write("a.txt", "abc");
  const claims = place.run.session.claims as Map<string, Claim>;
  const claim = (line: string[]) =>
    claims.set(join(place.workspaceDir, "a.txt"), { line, moment: 5, changes: [] });
  claim(["run_other"]);
  expect(await checkOne(place.run)).toMatchObject({
    ok: false,
    reason: expect.stringContaining("another run"),
  });
  claim(["run_root", "run_child"]);
  expect(await checkOne(place.run)).toMatchObject({ ok: true });
  const isLeft = (moment: number) => isLeftSince(place.run, moment, { file: "a.txt" });
  expect([await isLeft(4), await isLeft(5)]).toEqual([true, false]);
});

test("a pattern may name the project, and leads nowhere else, also not through a link", async () => {
  using place = makePlace([{ file: "project:b.txt" }]);
  place.write("b.txt", "in the workspace");
  expect(await checkOne(place.run)).toMatchObject({ ok: false });
  writeFileSync(join(place.projectDir, "b.txt"), "in the project");
  expect(await checkOne(place.run)).toMatchObject({ ok: true });
  for (const file of ["../project/b.txt", "/etc/passwd", "a/../../x"]) {
    using outside = makePlace([{ file }]);
    expect(await checkOne(outside.run)).toMatchObject({
      reason: expect.stringContaining("outside its folder"),
    });
  }
  using linked = makePlace([{ file: "link/**" }]);
  symlinkSync(place.projectDir, join(linked.workspaceDir, "link"));
  expect(await checkOne(linked.run)).toMatchObject({ ok: false, reason: "no such file" });
});

test("a file or an answer with a schema must fit it, and a command must not fail", async () => {
  const schema = { type: "object", required: ["n"] };
  using place = makePlace([{ file: "a.json", schema }, { answer: schema }, { command: "npm test" }]);
  const check = async (file: string, answer: string, wrong: string | null) => {
    place.write("a.json", file);
    return (await checkDeliverables(place.run, answer, async () => wrong)).map(({ ok }) => ok);
  };
  expect(await check('{"n":1}', '```json\n{"n":1}\n```', null)).toEqual([true, true, true]);
  expect(await check("{}", "{}", "exit code 1")).toEqual([false, false, false]);
  expect(await check("not json", "not json", null)).toEqual([false, false, true]);
});

test("a tool waits for the file that must come before it", async () => {
  using place = makePlace([{ file: "plan.md", before: ["write"] }]);
  expect(await missingBefore(place.run, "write")).toContain("'write' must wait until `plan.md`");
  expect(await missingBefore(place.run, "read")).toBeNull();
  place.write("plan.md", "x");
  expect(await missingBefore(place.run, "write")).toBeNull();
});

const kept = { deliverable: "a", ok: true, reason: "present", files: [] };
const missed: DeliverableVerdict = { deliverable: "b", ok: false, reason: `no ${KNOWN_SECRET}`, files: [] };

test("an ending whose contract is broken is a failure that names what is missing, whatever else it was", async () => {
  const end = async (verdicts: DeliverableVerdict[], ending: Parameters<typeof withVerdicts>[1]) => {
    const host = { guards: { ...guards, checkDeliverables: async () => verdicts } };
    const made = makeRun({ deliverables: [{ file: "a" }], host });
    return { ...made, ended: await withVerdicts(made.run, ending) };
  };
  expect((await end([kept], { status: "completed", text: "" })).ended).toEqual({
    ...{ status: "completed", text: "", verdicts: [kept] },
  });
  const { run, events, ended } = await end([kept, missed], { status: "completed", text: "" });
  expect(ended).toMatchObject({ status: "failed", error: { type: "deliverable", recoverable: true } });
  expect(ended.error?.message).toBe(
    "COMPLIANCE ERROR: solo did not leave what its contract demands: `b` (no [redacted:secret]).",
  );
  expect([run.warnings.length, events]).toMatchObject([1, [{ type: "compliance.failed" }]]);
  const error = { type: "timeout" as const, message: "over", recoverable: false };
  const late = await end([missed], { status: "timeout", text: "", error });
  expect(late.ended).toMatchObject({ status: "timeout", error });
  const cancelled = await end([missed], { status: "cancelled", text: "" });
  expect(cancelled.ended).toEqual({ status: "cancelled", text: "" });
});

test("a run whose session was lost is not checked: nothing of it counts any more", async () => {
  const host = { guards: { ...guards, checkDeliverables: async () => [missed] } };
  const { run } = makeRun({ deliverables: [{ file: "a" }], host });
  run.interrupt({ status: "failed", bailout: "error", message: "lost" });
  expect(await withVerdicts(run, { status: "failed", text: "" })).toEqual({ status: "failed", text: "" });
});
