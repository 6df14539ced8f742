import { callDelegate, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { listen, send } from "../tools.ts";

export default defineScenario({
  title: "text from outside in a child makes its parent's outbound calls a matter for a person",
  scripts: {
    lead: [
      callDelegate("worker", "hear them"),
      callTool("send", { to: "eve@example.org" }),
      say("It was not sent."),
    ],
    worker: [
      callTool("listen", {}),
      callTool("write", { path: "heard.txt", content: "what I heard, word for word" }),
      say("I heard them."),
    ],
  },
  tools: [listen, send],
  options: { permissionMode: "bypassPermissions" },
  request: { agent: "lead", task: "Hear them, then send it." },
});
