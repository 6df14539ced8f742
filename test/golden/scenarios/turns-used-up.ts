import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "a run that has used its turns reports once more, without tools, and is partial",
  scripts: {
    lead: [callTool("look", { at: "one" }), callTool("look", { at: "two" }), say("I saw two things.")],
  },
  tools: [look],
  agents: { lead: { limits: { turns: 2 } } },
  request: { agent: "lead", task: "Look at everything." },
});
