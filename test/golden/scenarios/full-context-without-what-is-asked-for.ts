import { callDelegate, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look, pay } from "../tools.ts";

export default defineScenario({
  title: "a child that gets the whole conversation does not get results of tools that it must ask for",
  scripts: {
    lead: [
      callTool("look", { at: "the till" }),
      callTool("pay", { to: "Ada", amount: 1 }),
      callDelegate("worker", "what happened?", { context: "full" }),
      say("Done."),
    ],
    worker: [say("I only know what I was told.")],
  },
  tools: [look, pay],
  agents: {
    lead: { tools: ["look", "pay"], subagents: { allow: ["worker"] } },
    worker: { tools: ["look", "pay"], askTools: ["pay"] },
  },
  request: { agent: "lead", task: "Look, pay and tell." },
});
