import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { look, pay } from "../tools.ts";

export default defineScenario({
  title: "rules of the settings deny, ask and allow calls by what they touch",
  scripts: {
    lead: [
      callTool("read", { path: "public.txt" }),
      callTool("read", { path: "keys/private.txt" }),
      callTool("write", { path: "notes/a.txt", content: "a" }),
      callTool("write", { path: "other/a.txt", content: "a" }),
      callTool("pay", { to: "Ada", amount: 1 }),
      callTool("look", { at: "it" }),
      say("Done."),
    ],
  },
  tools: [look, pay],
  files: { "public.txt": "anybody\n", "keys/private.txt": "nobody\n" },
  settings: {
    permissions: {
      allow: ["read", "write(notes/**)", "write(other/**)", "pay", "look"],
      ask: ["write(other/**)"],
      deny: ["read(keys/**)", "look"],
    },
  },
  request: { agent: "lead", task: "Try everything." },
});
