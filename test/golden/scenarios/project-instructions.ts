import { say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "the project's instructions and agents are in the prompt",
  scripts: { lead: [say("I read them.")] },
  agents: { lead: { subagents: { allow: ["gardener"] } } },
  files: {
    "AGENTS.md": "Use tabs.\n",
    ".retinue/agents/gardener.md":
      "---\nname: gardener\ndescription: Waters the plants.\ntools: [read]\nlimits: { turns: 3 }\n---\nYou water the plants. Today is {{today}}.\n",
  },
  request: { agent: "lead", task: "What are your instructions?" },
});
