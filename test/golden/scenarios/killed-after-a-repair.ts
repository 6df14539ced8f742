import { hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a run that was told to repair what it owes, and was killed, is not told so again",
  scripts: { lead: [say("done"), hang()] },
  agents: { lead: { deliverables: [{ file: "report.md" }] } },
  request: { agent: "lead", task: "Write the report." },
  killed: {
    when: ({ models }) => models.lead?.requests.length === 2,
    afterwards: { lead: [say("really done")] },
  },
});
