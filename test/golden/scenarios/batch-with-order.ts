import { callDelegateMany, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "tasks of a batch wait for those that they depend on",
  isParallel: true,
  scripts: {
    lead: [
      callDelegateMany([
        { id: "last", agent: "worker", task: "task last", dependsOn: ["left", "right"] },
        { id: "left", agent: "worker", task: "task left", dependsOn: ["first"] },
        { id: "right", agent: "worker", task: "task right", dependsOn: ["first"] },
        { id: "first", agent: "worker", task: "task first" },
      ]),
      say("All are done."),
    ],
    worker: (request) => say(`done: ${request.task}`),
  },
  request: { agent: "lead", task: "Do all four." },
});
