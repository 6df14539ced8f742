import { testRuntime } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { started } from "../../../../test/fixtures/run-events.ts";
import { createRunTree } from "../tree/run-tree.ts";
import { listParked, listRuns } from "./perform-command.ts";

test("of many runs the last ones are listed, with how many came before and how to see them", () => {
  const tree = createRunTree();
  expect(listRuns(tree)).toBe("nothing has run yet");
  tree.take(started("run_0"));
  for (let index = 1; index < 100; index++) tree.take(started(`run_${index}`, "run_0"));
  expect(listRuns(tree).split("\n")).toHaveLength(100);
  for (let index = 100; index < 130; index++) tree.take(started(`run_${index}`, "run_0"));
  const [note, first, ...rest] = listRuns(tree).split("\n");
  expect(note).toBe(
    "30 earlier runs left out; see all of a session with: retinue trace ses_1 --ids --limit 0",
  );
  expect(first).toContain("run_30 ");
  expect(rest).toHaveLength(99);
});

test("of many waiting calls the oldest are listed, with how many more there are and how to see them", async () => {
  await using t = testRuntime({ lead: [] });
  const { record } = t.runtime;
  const ask = (sessionId: string, index: number) =>
    record.addApproval({
      approvalId: `apr_${sessionId}_${index}`,
      sessionId,
      runId: `run_${sessionId}`,
      callId: `call_${index}`,
      tool: "pay",
      inputHash: "h",
      request: { chain: ["lead"], reason: "it asks" },
      requestedAtMs: index,
    });
  expect(await listParked(t)).toBe("nothing waits for an answer");
  for (const sessionId of ["open", "ended"])
    await record.startSession({ sessionId, title: "", project: "/p", workspace: "" });
  await record.write({ kind: "session.update", sessionId: "ended", change: { status: "completed" } });
  await record.committed();
  await ask("ended", 0);
  for (let index = 0; index < 20; index++) await ask("open", index);
  expect(await listParked(t)).not.toContain("more");
  expect(await listParked(t)).not.toContain("apr_ended");
  for (let index = 20; index < 27; index++) await ask("open", index);
  const lines = (await listParked(t)).split("\n");
  expect(lines[0]).toBe("apr_open_0  lead asks for pay in open");
  expect(lines.filter((line) => line.startsWith("apr_"))).toHaveLength(20);
  expect(lines).toContain("and 7 more; see them all with: retinue approve");
});
