import { callDelegate, failWith, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a delegation that fails is tried again as often as its agent says",
  scripts: {
    lead: [
      callDelegate("worker", "try"),
      callDelegate("worker", "try once more"),
      say("The second one failed."),
    ],
    worker: [
      failWith("content_filter", "no"),
      say("it worked"),
      failWith("content_filter", "no"),
      failWith("content_filter", "no"),
    ],
  },
  agents: { worker: { retry: { attempts: 1, on: ["content_filter"], backoffMs: 10 } } },
  request: { agent: "lead", task: "Try twice." },
});
