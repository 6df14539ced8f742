import { callDelegate, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "general-purpose has the prompt and tools of who calls it, in a clean context",
  scripts: {
    lead: [
      callDelegate("general-purpose", "look for yourself"),
      callTool("look", { at: "home" }),
      say("Same again."),
      say("Done."),
    ],
    worker: [],
  },
  tools: [look],
  agents: { lead: { tools: ["look"], subagents: { allow: ["worker"] } } },
  request: { agent: "lead", task: "Have it looked at." },
});
