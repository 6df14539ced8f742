import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a run that leaves out what it owes is told so once, and repairs it",
  scripts: {
    lead: [
      say("done"),
      callTool("write", { path: "workspace:report.md", content: "# Report\n" }),
      say("Now it is there."),
    ],
  },
  agents: { lead: { deliverables: [{ file: "report.md" }] } },
  request: { agent: "lead", task: "Write the report." },
});
