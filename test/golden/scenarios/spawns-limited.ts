import { callDelegate, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a run that has used its delegations starts no more",
  scripts: {
    lead: [
      callDelegate("worker", "one"),
      callDelegate("worker", "two"),
      callDelegate("worker", "three"),
      say("Two went."),
    ],
    worker: { eachRun: [say("done")] },
  },
  agents: { lead: { limits: { spawns: 2 }, subagents: { allow: ["worker"] } } },
  request: { agent: "lead", task: "Send three." },
});
