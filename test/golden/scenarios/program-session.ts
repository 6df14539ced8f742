import { say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a program leads a session and starts runs in it, one after the other",
  scripts: { lead: [], worker: { eachRun: [(request) => say(`${request.task} is done`)] } },
  play: async ({ runtime }) => {
    const session = await runtime.openSession({ title: "A program at work", limits: { spawns: 2 } });
    const results = [
      await session.spawn("worker", "one").result,
      await session.spawn("worker", "two", { limits: { turns: 1 } }).result,
      await session.spawn("worker", "three").result,
    ];
    return [results, await session.close()];
  },
});
