import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createRuntime, defineAgent } from "@retinue/builtin";
import { scriptedModel } from "@retinue/core/testing";
import { expect, test } from "vitest";
import { silence } from "../fixtures/lives.ts";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

/** Leaves a session of three tasks as a killed process would: one ended, one open, one not begun. */
async function abandonTasks(world: World): Promise<string> {
  const stuck = silence();
  const database = join(world.data, "retinue.db");
  const model = scriptedModel("killed", (request) =>
    request.task === "first" ? { kind: "reply", text: "The first is done.", calls: [] } : stuck.step(),
  );
  const scout = defineAgent({
    name: "scout",
    description: "Plays scout.",
    prompt: "You are scout.",
    tools: [],
  });
  const runtime = createRuntime({
    agents: [scout],
    model,
    dataDir: world.data,
    projectDir: world.project,
    env: {},
  });
  const tasks = ["first", "second", "third"].map((task) => ["scout", task] as const);
  void runtime.fanOut(tasks, { maxConcurrent: 1 });
  while (!stuck.reached) await new Promise((resolve) => setImmediate(resolve));
  await runtime.record.committed();
  const db = new DatabaseSync(database);
  db.exec("DELETE FROM leases");
  db.close();
  return (await runtime.record.listSessions()).sessions[0]?.session_id ?? "";
}

test("all tasks of a resumed session are printed in their order, and the worst decides the exit code", async () => {
  await using world = new World();
  world.agent("scout", "tools: []");
  world.model = await startModel((request) =>
    request.last === "third" ? { status: 400, message: "refused" } : { text: `Now ${request.last} is done.` },
  );
  const sessionId = await abandonTasks(world);
  const { stdout, code } = await world.call(["resume", sessionId, "--output-format", "text"]);
  expect(stdout).toMatch(
    /1\. scout: completed\nThe first is done\.\n\n2\. scout: completed\nNow second is done\.\n\n3\. scout: failed/,
  );
  expect(code).toBe(1);
  expect(world.model.requests.map((request) => request.last)).toEqual(["second", "third"]);
});
