import { expect, test } from "vitest";
import { started } from "../../../../test/fixtures/run-events.ts";
import { createRunTree } from "../../tree/run-tree.ts";
import { listRuns } from "./perform-command.ts";

test("of many runs the last are listed, with how many came before and how to see them", () => {
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
