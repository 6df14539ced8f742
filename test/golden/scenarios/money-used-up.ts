import { callDelegate, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a tree that has used its money starts no further call, and says what it cost",
  scripts: {
    lead: [
      callDelegate("worker", "spend"),
      callDelegate("worker", "spend more"),
      say("We are out of money.", { input: 1_000, output: 10 }),
    ],
    worker: () => say("spent", { input: 5_000, output: 1_000 }),
  },
  settings: {
    prices: { "scripted/lead": { input: 1, output: 2 }, "scripted/worker": { input: 3, output: 15 } },
  },
  agents: {
    lead: { limits: { costUsd: 0.06 }, maxOutputTokens: 1_000, subagents: { allow: ["worker"] } },
    worker: { maxOutputTokens: 1_000 },
  },
  request: { agent: "lead", task: "Spend." },
});
