import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look, pay } from "../tools.ts";

export default defineScenario({
  title: "flags and settings deny, ask and allow; a plan-mode session only reads",
  scripts: {
    lead: [
      callTool("pay", { to: "Ada", amount: 5 }),
      callTool("look", { at: "it" }),
      callTool("write", { path: "a.txt", content: "a" }),
      say("Done."),
    ],
  },
  tools: [look, pay],
  settings: { permissions: { ask: ["pay"], deny: ["read(**/.env)"] } },
  options: { permissionMode: "plan", allowedTools: ["pay"], disallowedTools: ["grep"] },
  request: { agent: "lead", task: "Try it." },
});
