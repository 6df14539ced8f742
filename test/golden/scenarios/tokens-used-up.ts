import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "a run that has used its tokens reports and ends",
  scripts: {
    lead: ({ turn }) =>
      turn < 3
        ? callTool("look", { at: `place ${turn}` }, { input: 4_000, output: 500 })
        : say("Cut short.", { input: 100, output: 10 }),
  },
  tools: [look],
  agents: { lead: { tools: ["look"], limits: { tokens: 12_600 }, maxOutputTokens: 1_000 } },
  request: { agent: "lead", task: "Look." },
});
