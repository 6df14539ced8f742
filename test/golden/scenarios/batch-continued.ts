import { callDelegateMany, failWith, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a failed task does not stop those that do not depend on it",
  scripts: {
    lead: [
      callDelegateMany(
        [
          { id: "a", agent: "worker", task: "task a" },
          { id: "b", agent: "worker", task: "task b", dependsOn: ["a"] },
          { id: "c", agent: "worker", task: "task c" },
        ],
        { onFailure: "continue", mode: "sequential" },
      ),
      say("One was left."),
    ],
    worker: [failWith("content_filter", "that is not allowed"), say("c is done")],
  },
  request: { agent: "lead", task: "Do all three." },
});
