import { expect, test } from "vitest";
import { callTool, say, testRuntime } from "../../src/testing/index.ts";
import { type AnyTool, defineTool } from "../../src/tools/tool.ts";
import { resultsSeen } from "../attacks/attack.ts";

const SECRET = "1//refresh-token-of-a-service";

/** A tool that learns of a secret when it is used, as one does that opens an account, and then repeats it. */
const leaky: AnyTool = defineTool({
  name: "leaky",
  description: "Opens an account.",
  input: { type: "object" },
  execute: async () => "",
  withSettings: (_, places) =>
    defineTool({
      name: "leaky",
      description: "Opens an account.",
      input: { type: "object" },
      risk: "low",
      async execute() {
        places.hideSecret?.(SECRET);
        return `the server said: bad token ${SECRET}`;
      },
    }),
});

test("a secret that a tool learns of only when it is used is kept out of what a model and the record see", async () => {
  await using t = testRuntime(
    { lead: [callTool("leaky", {}), say("done")] },
    { tools: [leaky], agents: { lead: {} } },
  );
  await t.runtime.run({ agent: "lead", task: "go" });
  const seen = resultsSeen(t, "lead").map(({ text }) => text);
  expect(seen.join("\n")).toContain("the server said: bad token [redacted:");
  expect(seen.join("\n")).not.toContain(SECRET);
});
