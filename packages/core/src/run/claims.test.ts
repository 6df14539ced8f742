import { expect, test } from "vitest";
import { type Claim, claimFile, takePath } from "./claims.ts";

const lead = ["run_lead"];
const child = ["run_lead", "run_child"];

test("what one run does to a file in a row is one change, what another does is a further one", () => {
  const made = claimFile(undefined, { line: child, kind: "created", moment: 1 });
  const again = claimFile(made, { line: child, kind: "modified", moment: 2 });
  expect(again).toEqual({ line: child, moment: 2, changes: [{ line: child, kind: "created" }] });
  const byLead = claimFile(again, { line: lead, kind: "modified", moment: 3 });
  expect(byLead.line).toEqual(lead);
  expect(byLead.changes.map(({ kind }) => kind)).toEqual(["created", "modified"]);
});

test("a file that one run made and deleted again has no change left, and still a claim", () => {
  const made = claimFile(undefined, { line: child, kind: "created", moment: 1 });
  expect(claimFile(made, { line: child, kind: "deleted", moment: 2 })).toEqual({
    line: child,
    moment: 2,
    changes: [],
  });
});

test("a run keeps a file at its path unless a run that is not below it has that", () => {
  const claims = new Map<string, Claim>();
  const host = { clock: { monotonicMs: () => 7 } };
  const take = (line: readonly string[]) =>
    takePath({ runId: line.at(-1) ?? "", line, session: { claims }, host }, "corpus.json");
  expect(take(child)).toBe("corpus.json");
  expect(claims.get("corpus.json")).toEqual({ line: child, moment: 7, changes: [] });
  expect([take(child), take(lead)]).toEqual(["corpus.json", "corpus.json"]);
  expect(take(["run_lead", "run_12345678"])).toBe("corpus-12345678.json");
  expect(claims.get("corpus.json")?.line).toEqual(child);
});
