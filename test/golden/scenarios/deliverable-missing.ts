import { callDelegate, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a child that never leaves what it owes fails, and its parent gets a compliance error",
  scripts: {
    lead: [callDelegate("worker", "write the report"), say("The report is missing.")],
    worker: [say("done"), say("really done")],
  },
  agents: {
    worker: {
      deliverables: [{ file: "report.md" }, { file: "project:data/*.json" }],
      retry: { attempts: 0 },
    },
  },
  request: { agent: "lead", task: "Have the report written." },
});
