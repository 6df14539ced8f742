import { expect, test } from "vitest";
import { testRuntime } from "../../../testing/index.ts";
import { listParked } from "./answer-parked.ts";

test("of many that wait the oldest are listed, with how many more there are and how to see them", async () => {
  await using t = testRuntime({ lead: [] });
  const { store } = t.runtime;
  const ask = (sessionId: string, index: number) =>
    store.addApproval({
      approvalId: `apr_${sessionId}_${index}`,
      sessionId,
      runId: `run_${sessionId}`,
      callId: `call_${index}`,
      tool: "pay",
      inputHash: "h",
      request: { chain: ["lead"], reason: "it asks" },
      requestedAtMs: index,
    });
  expect(listParked(t)).toBe("nothing waits for an answer");
  for (const sessionId of ["open", "ended"])
    store.startSession({ sessionId, title: "", project: "/p", workspace: "" });
  store.endSession("ended", "completed");
  await store.committed();
  ask("ended", 0);
  for (let index = 0; index < 20; index++) ask("open", index);
  expect(listParked(t)).not.toContain("more");
  expect(listParked(t)).not.toContain("apr_ended");
  for (let index = 20; index < 27; index++) ask("open", index);
  const lines = listParked(t).split("\n");
  expect(lines[0]).toBe("apr_open_0  lead asks for pay in open");
  expect(lines.filter((line) => line.startsWith("apr_"))).toHaveLength(20);
  expect(lines).toContain("and 7 more; see them all with: retinue approve");
});
