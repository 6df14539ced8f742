import { describe, expect, test } from "vitest";
import { runtimeGuards } from "../../src/runtime/runtime-guards.ts";
import { type Attack, play } from "./attack.ts";
import { B_CASES } from "./b-budgets.ts";
import { C_CASES } from "./c-cancellation.ts";
import { M_CASES } from "./m-model-faults.ts";
import { WIRE_CASES } from "./m-wire-faults.ts";
import { P_CASES } from "./p-delegation.ts";
import { RECORD_CASES } from "./r-recording.ts";
import { SECRET_CASES } from "./r-secrets.ts";

const FAMILIES: Readonly<Record<string, readonly Attack[]>> = { delegation: P_CASES, budgets: B_CASES, "the model": M_CASES, "the wire": WIRE_CASES, "the stop": C_CASES, secrets: SECRET_CASES, "the record": RECORD_CASES };
const ALL = Object.values(FAMILIES).flat();

describe.each(Object.entries(FAMILIES))("attacks on %s", (_, cases) => {
  test.each(cases)("$id: $title", (attack) => play(attack));
});

describe("a case can fail", () => {
  test.each(ALL)("$id does, without what protects from it", async (attack) => {
    const verdict = await play(attack, "unguarded").then(
      () => "the attack was not noticed",
      (thrown: Error) => thrown.name,
    );
    expect(verdict).toBe("AssertionError");
  });

  test("every guard is named by a case", () => {
    const named = new Set<string>(ALL.flatMap((attack) => attack.guards));
    expect(Object.keys(runtimeGuards).filter((name) => !named.has(name))).toEqual([]);
  });
});
