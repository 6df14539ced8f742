import { callDelegateMany, callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";
import { SHOP } from "../shop.ts";

export default defineScenario({
  title: "main has three researchers look at once, then the debugger",
  isParallel: true,
  scripts: {
    main: [
      callDelegateMany([
        { id: "a", agent: "researcher", task: "Find where prices are rounded" },
        { id: "b", agent: "scout", task: "Find where baskets are added up" },
        { id: "c", agent: "researcher", task: "Find what is left to do" },
      ]),
      callTool("delegate", { agent: "debugger", task: "Why is ten percent off 100 not 90?" }),
      say("Percent is not divided by 100."),
    ],
    researcher: ({ task, turn }) => {
      const pattern = task.includes("rounded") ? "Math.round" : task.includes("added up") ? "reduce" : "TODO";
      const calls = [
        callTool("grep", { pattern }),
        callTool("code_search", { query: "discounted" }),
        callTool("write", { path: "x.txt", content: "not allowed" }),
      ];
      return calls[turn] ?? say(`Found for: ${task}`);
    },
    debugger: [
      callTool("read", { path: "src/pricing.ts", offset: 2, limit: 2 }),
      say("src/pricing.ts:3 is the cause."),
    ],
  },
  files: SHOP,
  request: { agent: "main", task: "Why is the discount wrong?" },
});
