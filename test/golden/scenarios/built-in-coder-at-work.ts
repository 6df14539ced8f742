import { callDelegate, callDelegateMany, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { SHOP } from "../shop.ts";

export default defineScenario({
  title: "main has the coder make a change, which the coder has reviewed and tested",
  isParallel: true,
  scripts: {
    main: [
      callTool("todo", { items: [{ text: "Fix the discount", status: "in_progress" }] }),
      callDelegate("coder", "Fix the discount in src/pricing.ts: percent is divided by 100.", {
        contextFiles: ["README.md"],
      }),
      say("The discount is right now.\n\nSuggestions:\n- Remove the console.log in src/basket.ts."),
    ],
    coder: [
      callTool("read", { path: "src/pricing.ts" }),
      callTool("edit", {
        path: "src/pricing.ts",
        edits: [{ old: "price * percent", new: "(price * percent) / 100" }],
      }),
      callDelegateMany([
        { id: "review", agent: "reviewer", task: "Review src/pricing.ts" },
        { id: "tests", agent: "tester", task: "Add a test for 100 percent" },
      ]),
      say("I changed src/pricing.ts.\n\nWarnings:\n- Percents over 100 give negative prices."),
    ],
    reviewer: [callTool("read", { path: "src/pricing.ts" }), say("No defect found.")],
    tester: [
      callTool("write", { path: "src/not-a-test.ts", content: "1" }),
      callTool("write", {
        path: "test/all.test.ts",
        content: 'import { test } from "node:test";\ntest("all", () => {});\n',
      }),
      say("I added test/all.test.ts."),
    ],
  },
  files: SHOP,
  options: { permissionMode: "acceptEdits" },
  request: { agent: "main", task: "Fix the discount." },
});
