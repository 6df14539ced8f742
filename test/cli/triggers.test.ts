import { expect, test } from "vitest";
import { startModel } from "./model.ts";
import { World } from "./world.ts";

test("a mandatory delegation that was not made is reported, and --no-triggers requires none", async () => {
  await using world = new World();
  world.model = await startModel(() => ({ text: "My own report." }));
  world.agent("main", "subagents: [writer]");
  world.agent("writer", "delegation: { mandatory: true, triggers: [report] }");
  const bound = await world.call(["-p", "get me a report"]);
  expect(bound).toMatchObject({ code: 0, stdout: "My own report.\n" });
  expect(bound.stderr).toMatch(/^❌ COMPLIANCE WARNING: main answered without delegating to `writer`/m);
  expect(world.model?.requests).toHaveLength(2);
  const free = await world.call(["--no-triggers", "-p", "get me a report"]);
  expect(free).toMatchObject({ code: 0, stdout: "My own report.\n", stderr: "" });
  expect(world.model?.requests).toHaveLength(3);
  const shown = await world.call(["agents", "show", "writer"]);
  expect(shown.stdout).toMatch(/mandatory for\s+report/);
});
