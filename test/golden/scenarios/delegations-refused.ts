import { callDelegate, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title:
    "oneself, somebody above, an unknown agent, one that is not allowed and one that is switched off are refused",
  scripts: {
    lead: [
      callDelegate("lead", "to oneself"),
      callDelegate("workr", "to a misspelt one"),
      callDelegate("stranger", "to one that is not allowed"),
      callDelegate("tester", "to one that is switched off"),
      callDelegate("worker", "to the worker"),
      say("One went through."),
    ],
    worker: [callDelegate("lead", "back up"), say("It did not go back up.")],
    stranger: [],
  },
  agents: {
    lead: { subagents: { allow: ["worker", "tester"] } },
    worker: { subagents: { allow: ["lead"] } },
  },
  settings: { disabledAgents: ["tester"] },
  request: { agent: "lead", task: "Ask everybody." },
});
