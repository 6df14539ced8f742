import { answerPlan, step } from "../plans.ts";
import { failWith, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a plan that was sent back once is executed; a step fails, and the planner finds another way",
  isParallel: true,
  scripts: {
    main: [],
    planner: [
      answerPlan(step("a", ["b"]), step("b", ["a"])),
      answerPlan(step("a"), step("b", ["a"]), step("c", ["a"]), step("d", ["b", "c"])),
      answerPlan(step("other", ["a"]), step("last", ["b", "other"])),
    ],
    worker: ({ task }) => {
      const id = /^task of (\w+)/.exec(task)?.[1] ?? "?";
      return id === "c" ? failWith("content_filter", "not that way") : say(`${id} is done`);
    },
  },
  play: async ({ runtime }) => {
    const plan = await runtime.planForGoal("Make the discount right");
    return [plan, await runtime.executePlan(plan), await runtime.plans.list()];
  },
});
