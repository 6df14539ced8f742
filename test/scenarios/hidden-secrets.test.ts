import { callTool, failWith, type Step, say, testRuntime } from "@retinue/core/testing";
import { type AnyTool, defineTool } from "@retinue/core/tools/tool";
import { expect, test } from "vitest";
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

const KEY = "quiet-morning-4711-orange";
const BEGUN = KEY.slice(0, -1);

/** A reply that ends with all of a secret but its last character. */
const CUT: readonly [how: string, step: Step][] = [
  ["at the output limit", { ...say(`Fine. The key is ${BEGUN}`), finish: "length" } as Step],
  ["by the provider's filter", { ...say(`Fine. The key is ${BEGUN}`), finish: "content-filter" } as Step],
  [
    "in a call",
    { kind: "reply", text: "Fine.", calls: [{ tool: "leaky", input: `{"key":"${BEGUN}` }], finish: "length" },
  ],
  [
    "by an error",
    {
      kind: "parts",
      parts: [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: `Fine. The key is ${BEGUN}` },
        { type: "error", error: Object.assign(new Error("broken"), { type: "network", recoverable: false }) },
      ],
    },
  ],
];

test.each(CUT)(
  "the beginning of a secret is shown and recorded nowhere where its reply was cut %s",
  async (_, step) => {
    await using t = testRuntime(
      { lead: [step, failWith("overloaded", "not now")] },
      { env: { SERVICE_API_KEY: KEY }, tools: [leaky], lenient: true },
    );
    const result = await t.runtime.run({ agent: "lead", task: "go" });
    const rows = await t.runtime.record.readRows({ sessionId: result.session_id });
    const everything = JSON.stringify([t.events, rows, result, t.models.lead?.requests]);
    expect(everything).toContain("Fine.");
    expect(everything).not.toContain(BEGUN.slice(0, 8));
  },
);
