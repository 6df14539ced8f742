import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineAgent } from "../src/agents/define-agent.ts";
import { assembleRuntime } from "../src/runtime/runtime.ts";
import { callDelegate, say, scriptedModel } from "../src/testing/index.ts";

test("the bench's record that keeps nothing carries a delegation to its end", async () => {
  const file = new URL("../bench/null-store.mjs", import.meta.url).href;
  const { nullStore } = await import(file);
  const dataDir = mkdtempSync(join(tmpdir(), "retinue-bench-"));
  const runtime = assembleRuntime(
    {
      agents: [
        defineAgent({
          name: "lead",
          description: "Leads.",
          prompt: "Lead.",
          subagents: { allow: ["worker"] },
        }),
        defineAgent({ name: "worker", description: "Works.", prompt: "Work.", model: "worker" }),
      ],
      models: { worker: scriptedModel("worker", [say("done")]) },
      model: scriptedModel("lead", [callDelegate("worker", "go"), say("done")]),
      dataDir,
      projectDir: dataDir,
    },
    { store: nullStore() },
  );
  try {
    expect(await runtime.run({ agent: "lead", task: "go" })).toMatchObject({ status: "completed" });
  } finally {
    await runtime.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
