import { callDelegateMany, failWith, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a failed task stops the rest of its batch",
  scripts: {
    lead: [
      callDelegateMany(
        [
          { id: "a", agent: "worker", task: "task a" },
          { id: "b", agent: "worker", task: "task b", dependsOn: ["a"] },
          { id: "c", agent: "worker", task: "task c", dependsOn: ["b"] },
        ],
        { onFailure: "stop", mode: "sequential" },
      ),
      say("It stopped."),
    ],
    worker: [failWith("content_filter", "that is not allowed")],
  },
  request: { agent: "lead", task: "Do all three." },
});
