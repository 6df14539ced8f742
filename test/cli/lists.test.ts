import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSqliteRecord } from "@retinue/core/record/sqlite/create-sqlite-record";
import { expect, test } from "vitest";
import { storedPlan } from "../fixtures/plans.ts";
import { World } from "./world.ts";

test("a list that ends at its limit says so, and one that ends by itself does not", async () => {
  await using world = new World();
  mkdirSync(world.data);
  const record = createSqliteRecord({ path: join(world.data, "retinue.db") });
  const { project } = world;
  const begin = (sessionId: string) => record.startSession({ sessionId, title: "t", project, workspace: "" });
  const names = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${prefix}_${at}`);
  await begin("ses_left");
  // Held by this process, which lives.
  const held = names("ses", 1_001);
  for (const id of held) {
    await begin(id);
    await record.takeLease(id);
  }
  for (const id of names("pln", 21)) await record.addPlan(storedPlan(id, { project }));
  await record.committed();
  const listed = async (...args: string[]) => {
    const { code, stdout, stderr } = await world.run([...args, "--json"]);
    return [code, (JSON.parse(stdout) as unknown[]).length, stderr];
  };
  const more = (limit: number) => `hint: there are more than ${limit}; see more of them with --limit\n`;
  expect(await listed("sessions")).toEqual([0, 20, more(20)]);
  expect(await listed("sessions", "--status", "interrupted")).toEqual([0, 1, ""]);
  expect(await listed("plan", "list")).toEqual([0, 20, more(20)]);
  expect(await listed("plan", "list", "--limit", "21")).toEqual([0, 21, ""]);
  const completed = async (typed: string) =>
    (await world.run(["__complete", "trace", typed])).stdout.split("\n").slice(0, 2);
  expect(await completed("ses_")).toEqual(["ses_1000\tt", "ses_999\tt"]);
  expect(await completed("ses_l")).toEqual(["ses_left\tt", "ses_1000\tt"]);
  await record.close();
});
