import { callTool, callTools, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { crash, fail, look, pay } from "../tools.ts";

export default defineScenario({
  title:
    "an error, a crash, an unknown tool, a wrong input, malformed JSON and a denied call are each answered",
  scripts: {
    lead: [
      callTool("fail", {}),
      callTool("crash", {}),
      callTool("lok", {}),
      callTool("pay", { to: "Ada", amount: 0, extra: true }),
      callTool("pay", '{"to": "Ada", "amount": '),
      callTool("edit", { path: "a.txt", edits: [] }),
      callTools([
        { tool: "look", input: { at: "one" } },
        { tool: "look", input: { at: "two" } },
        { tool: "fail", input: { n: 1 } },
      ]),
      say("None of it worked."),
    ],
  },
  tools: [crash, fail, look, pay],
  agents: { lead: { tools: ["look", "pay", "fail", "crash"] } },
  request: { agent: "lead", task: "Try everything." },
});
