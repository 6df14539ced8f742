import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defineAgent } from "@retinue/core/agents/define-agent";
import { createRegistry } from "@retinue/core/agents/registry";
import { systemClock } from "@retinue/core/budget/clock";
import { replaySession } from "@retinue/core/replay/replay-session";
import type { AgentSource } from "@retinue/core/schema/agent";
import { assembleRuntime, callDelegate, say, scriptedModel } from "@retinue/core/testing";
import { expect, test } from "vitest";

const IN_A_FILE: AgentSource = { format: "native", scope: "user" };

test("each child is told when it began, not when its parent first delegated, and the replay does not mind", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-time-"));
  let atMs = Date.UTC(2026, 10, 16, 23, 58);
  const told: (string | undefined)[] = [];
  const models = {
    lead: scriptedModel("lead", [
      callDelegate("child", "one"),
      () => {
        atMs += 600_000;
        return callDelegate("child", "two");
      },
      say("done"),
    ]),
    child: scriptedModel("child", ({ prompt }) => {
      told.push(/It is (\S+)\./.exec(prompt)?.[1]);
      return say("ok");
    }),
  };
  const about = { description: "x", prompt: "It is {{now}}." };
  const agents = createRegistry({
    agents: [
      defineAgent({ name: "lead", ...about, model: "lead", subagents: { allow: ["*"] } }),
      { ...defineAgent({ name: "child", ...about, model: "child" }), source: IN_A_FILE },
    ],
    disabledAgents: [],
  });
  const options = { env: {}, agents, zone: () => "UTC" };
  const places = { database: ":memory:", projectDir: root, dataDir: join(root, "data") };
  const clock = { ...systemClock, wallMs: () => atMs };
  const runtime = assembleRuntime({ ...options, ...places, models }, { clock });
  const { session_id } = await runtime.run({ agent: "lead", task: "go" });
  expect(told).toEqual(["2026-11-16T23:58:00+00:00", "2026-11-17T00:08:00+00:00"]);
  expect((await replaySession(options, runtime.record, session_id)).divergence).toBeNull();
  await runtime.close();
  rmSync(root, { recursive: true, force: true });
});
