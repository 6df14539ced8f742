import { expect, test } from "vitest";
import { KNOWN_TOOLS } from "./built-in-agents.ts";
import { builtInTools } from "./built-in-tools.ts";

test("the known names are those of the tools there are, with their groups", () => {
  const known = KNOWN_TOOLS.filter(({ groups }) => !groups.includes("delegation"));
  const real = builtInTools.map(({ name, groups }) => ({ name, groups }));
  const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
  expect(known.toSorted(byName)).toEqual(real.toSorted(byName));
});
