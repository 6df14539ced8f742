import { callDelegate, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "delegation ends at the depth limit with an error that says so",
  scripts: {
    lead: [callDelegate("middle", "go one deeper"), say("Done at the top.")],
    middle: [callDelegate("worker", "go too deep"), say("It went no deeper.")],
    worker: [],
  },
  agents: { middle: { subagents: { allow: ["worker"] } } },
  settings: { maxDepth: 1 },
  request: { agent: "lead", task: "Go as deep as you can." },
});
