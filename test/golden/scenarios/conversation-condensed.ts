import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { recite } from "../tools.ts";

export default defineScenario({
  title: "a conversation that is too long is condensed and goes on",
  scripts: {
    lead: [
      callTool("recite", {}),
      callTool("recite", { again: true }),
      say("A long text was recited twice."),
      callTool("recite", { more: true }),
      say("It was recited once more."),
      say("Recited."),
    ],
  },
  tools: [recite],
  agents: { lead: { tools: ["recite"], limits: { contextChars: 40_000 } } },
  request: { agent: "lead", task: "Recite." },
});
