import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

export default defineScenario({
  title: "a run that makes the same call again and again is told so, then ended",
  scripts: {
    lead: (request) =>
      request.options.tools?.length ? callTool("look", { at: "the same" }) : say("It is always the same."),
  },
  tools: [look],
  request: { agent: "lead", task: "Look." },
});
