import { callDelegate, say, testRuntime } from "@retinue/core/testing";
import { expect, test } from "vitest";

test("a child's report becomes the parent's tool result", async () => {
  await using t = testRuntime({
    lead: [callDelegate("scout", "find the config"), say("It is config.ts")],
    scout: [say("config.ts")],
  });
  const result = await t.runtime.run({ agent: "lead", task: "Where is the config?" });
  expect(result.summary).toBe("It is config.ts");
  expect(t.trace()).toEqual(["lead > scout: completed", "lead: completed"]);
  expect(JSON.stringify(t.models.lead?.requests[1]?.prompt)).toContain("config.ts");
});
