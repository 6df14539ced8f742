import { callDelegate, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a reviewer judges whether a child met the success criteria of its task",
  scripts: {
    lead: [
      callDelegate("worker", "do it", { successCriteria: "it is blue" }),
      callDelegate("worker", "do it again", { successCriteria: "it is red" }),
      say("One was right."),
    ],
    worker: { eachRun: [say("It is blue.")] },
    reviewer: [
      say('{"met": true, "reason": "it is blue"}'),
      say('{"met": false, "reason": "it is not red"}'),
    ],
  },
  agents: { worker: { verify: "reviewer" } },
  request: { agent: "lead", task: "Have it done." },
});
