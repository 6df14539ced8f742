import { answerPlan, step } from "../plans.ts";
import { hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a plan whose execution was killed goes on with the step that was open",
  scripts: {
    main: [],
    planner: [answerPlan(step("a"), step("b", ["a"]), step("c", ["b"]))],
    worker: ({ task }) => (task.startsWith("task of b") ? hang() : say("a is done")),
  },
  play: async ({ runtime }) => runtime.executePlan(await runtime.planForGoal("Make the discount right")),
  killed: {
    when: ({ models }) => models.worker?.requests.length === 2,
    afterwards: { worker: [say("b is done"), say("c is done")] },
  },
});
