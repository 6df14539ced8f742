import { callDelegate, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a lead hands one task to a worker and reports what it found",
  scripts: {
    lead: [callDelegate("worker", "find the config"), say("It is config.ts.")],
    worker: [say("The config is config.ts.")],
  },
  request: { agent: "lead", task: "Where is the config?" },
});
