import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtInTools } from "@retinue/builtin/built-in-tools";
import { createBuiltInRuntime } from "@retinue/builtin/create-runtime";
import { loadProject } from "@retinue/builtin/load-project";
import { examplesFor } from "@retinue/server/routes/project";
import { expect, test } from "vitest";
import { clearGround, makeGround } from "./work-desk.ts";

test.each([
  ["an empty folder", null, ["calendar", "contacts", "main"]],
  ["a project with code and nothing set", "../../examples/review-team", ["calendar", "contacts", "main"]],
  ["a folder with documents", "../../examples/documents", ["main", "report-creation-expert"]],
])(
  "every example works without a key in %s, and the first shows nested agents side by side",
  async (_, folder, third) => {
    const ground = makeGround();
    if (folder?.endsWith("review-team"))
      cpSync(new URL(folder, import.meta.url), ground.projectDir, { recursive: true });
    else if (folder !== null) {
      cpSync(new URL(folder, import.meta.url), join(ground.projectDir, "documents"), { recursive: true });
      mkdirSync(join(ground.projectDir, ".retinue"));
      writeFileSync(
        join(ground.projectDir, ".retinue", "settings.json"),
        '{"search": {"folders": ["documents"]}}',
      );
    }
    const env = {
      HOME: ground.root,
      RETINUE_HOME: ground.dataDir,
      XDG_CONFIG_HOME: join(ground.root, "config"),
    };
    const { registry, settings } = await loadProject({ projectDir: ground.projectDir, env });
    const asked: string[] = [];
    const runtime = createBuiltInRuntime({
      agents: registry,
      settings,
      tools: builtInTools,
      projectDir: ground.projectDir,
      dataDir: ground.dataDir,
      configDir: join(ground.root, "config"),
      env,
      approve: async ({ tool }) => {
        asked.push(tool);
        return { allowed: true, by: "the test" };
      },
    });
    const seen: { depth: number; agents: string[] }[] = [];
    for (const { task } of await examplesFor(ground.projectDir, settings)) {
      const { session_id: id, status } = await runtime.run({ agent: "main", task, model: "offline" });
      const runs = await runtime.record.readRows({ sessionId: id, kind: "runs" });
      seen.push({
        depth: Math.max(...runs.map((run) => run.agent_depth)),
        agents: runs.map((run) => run.agent_role ?? ""),
      });
      expect([task, status]).toEqual([task, "completed"]);
    }
    expect(seen[0]?.depth).toBe(2);
    expect(seen[0]?.agents).toHaveLength(6);
    expect(seen[1]?.agents.toSorted()).toEqual(["calendar", "contacts", "email", "main"]);
    expect(seen[2]?.agents.toSorted()).toEqual(third);
    expect(asked).toEqual(["gmail_send_email"]);
    expect(seen[4]?.agents).toHaveLength(4);
    await runtime.close();
    clearGround(ground);
  },
);
