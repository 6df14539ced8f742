import { callDelegateMany, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "three tasks of a batch are done at once",
  isParallel: true,
  scripts: {
    lead: [
      callDelegateMany([
        { id: "a", agent: "worker", task: "task a" },
        { id: "b", agent: "worker", task: "task b" },
        { id: "c", agent: "scout", task: "task c" },
      ]),
      say("All are done."),
    ],
    worker: (request) => say(`${request.task} is done`),
    scout: (request) => say(`${request.task} is done`),
  },
  request: { agent: "lead", task: "Do all three." },
});
