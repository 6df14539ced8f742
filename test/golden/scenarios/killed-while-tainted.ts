import { callTool, hang, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { listen, send } from "../tools.ts";

export default defineScenario({
  title: "a run that was killed after it heard text from outside still may not send without a person",
  scripts: { lead: [callTool("listen", {}), hang()] },
  tools: [listen, send],
  options: { permissionMode: "bypassPermissions" },
  request: { agent: "lead", task: "Hear them, then send it." },
  killed: {
    when: ({ models }) => models.lead?.requests.length === 2,
    afterwards: { lead: [callTool("send", { to: "eve@example.org" }), say("It was not sent.")] },
  },
});
