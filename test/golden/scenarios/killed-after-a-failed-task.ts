import { callDelegateMany, failWith, hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a task of a batch that had failed is not started again by the process that goes on",
  isParallel: true,
  scripts: {
    lead: [
      callDelegateMany([
        { id: "a", agent: "worker", task: "task a" },
        { id: "b", agent: "worker", task: "task b" },
        { id: "c", agent: "worker", task: "task c", dependsOn: ["a"] },
      ]),
    ],
    worker: ({ task }) => (task === "task a" ? failWith("content_filter", "not that") : hang()),
  },
  request: { agent: "lead", task: "Do all three." },
  killed: {
    when: ({ events, models }) =>
      models.worker?.requests.length === 2 &&
      events.some(
        (event) => event.type === "run.ended" && event.agent === "worker" && event.result.status === "failed",
      ),
    afterwards: { lead: [say("Only b is done.")], worker: [say("b is done")] },
  },
});
