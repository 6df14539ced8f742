import { guards } from "@retinue/core/run/guards";
import { expect, test } from "vitest";
import { hasSandbox } from "../fixtures/has-sandbox.ts";
import { ATTACK_TIMEOUT_MS, type Attack, play } from "./attack.ts";
import { FAMILIES } from "./families.ts";

const ALL = Object.values(FAMILIES).flat();

const isPlayed = ({ needs, slow }: Attack) =>
  (needs === undefined || hasSandbox) && (!slow || process.env.RETINUE_DEEP === "1");

for (const attack of ALL.filter(isPlayed)) {
  test(
    `${attack.id} is noticed when nothing protects from it`,
    async () => {
      const verdict = await play(attack, "unguarded").then(
        () => "nothing was noticed",
        (thrown: Error) => thrown.name,
      );
      expect(verdict).toBe("AssertionError");
    },
    ATTACK_TIMEOUT_MS,
  );
}

test("every guard is named by a case", () => {
  const named = new Set<string>(ALL.flatMap((attack) => attack.guards ?? []));
  expect(Object.keys(guards).filter((name) => !named.has(name))).toEqual([]);
});

test("no two cases have the same id", () => {
  const ids = ALL.map((attack) => attack.id);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
