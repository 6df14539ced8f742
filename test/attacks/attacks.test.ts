import { describe, test } from "vitest";
import { play } from "./attack.ts";
import { FAMILIES } from "./families.ts";

describe.each(Object.entries(FAMILIES))("attacks on %s", (_, cases) => {
  test.each(cases)("$id: $title", (attack) => play(attack), 600_000);
});
