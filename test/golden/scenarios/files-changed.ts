import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { SHOP } from "../shop.ts";

export default defineScenario({
  title: "files are read, written, edited and searched, and what was not read is not overwritten",
  scripts: {
    lead: [
      callTool("ls", {}),
      callTool("grep", { pattern: "discounted" }),
      callTool("write", { path: "README.md", content: "# Another shop\n" }),
      callTool("read", { path: "src/pricing.ts" }),
      callTool("edit", {
        path: "src/pricing.ts",
        edits: [{ old: "price * percent", new: "(price * percent) / 100" }],
      }),
      callTool("edit", { path: "src/pricing.ts", edits: [{ old: "nowhere", new: "somewhere" }] }),
      callTool("write", { path: "docs/notes.md", content: "# Notes\n" }),
      callTool("read", { path: "../outside.txt" }),
      callTool("write", { path: ".retinue/settings.json", content: "{}" }),
      callTool("glob", { pattern: "**/*.ts" }),
      say("The discount is right now."),
    ],
  },
  files: SHOP,
  options: { permissionMode: "acceptEdits" },
  request: { agent: "lead", task: "Make the discount right." },
});
