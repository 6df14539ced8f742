import { callDelegate, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { SHOP } from "../shop.ts";

export default defineScenario({
  title: "a child in a copy of the project changes the copy, and its parent merges it",
  scripts: {
    lead: [callDelegate("worker", "write the notes"), say("It is in a copy.")],
    worker: [callTool("write", { path: "NOTES.md", content: "# Notes\n" }), say("The notes are written.")],
  },
  agents: { worker: { workspace: "isolated" } },
  files: SHOP,
  options: { permissionMode: "acceptEdits" },
  request: { agent: "lead", task: "Have the notes written." },
});
