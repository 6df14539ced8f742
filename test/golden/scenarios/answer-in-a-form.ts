import { say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "an answer that does not fit its schema is sent back, and its data are in the result",
  scripts: { lead: [say('{"total": "many"}'), say('{"total": 3}')] },
  request: {
    agent: "lead",
    task: "Count them.",
    deliverables: [
      { answer: { type: "object", properties: { total: { type: "integer" } }, required: ["total"] } },
    ],
  },
});
