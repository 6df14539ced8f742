import { describe, test } from "vitest";
import { hasSandbox } from "../fixtures/has-sandbox.ts";
import { ATTACK_TIMEOUT_MS, play } from "./attack.ts";
import { FAMILIES } from "./families.ts";

describe.each(Object.entries(FAMILIES))("attacks on %s", (_, cases) => {
  for (const attack of cases) {
    const isMissing = attack.needs === "bubblewrap" && !hasSandbox;
    test.skipIf(isMissing)(`${attack.id}: ${attack.title}`, () => play(attack), ATTACK_TIMEOUT_MS);
  }
});
