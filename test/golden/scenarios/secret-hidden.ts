import { callTool, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a secret that a file holds is kept out of the record and of what the model sees",
  scripts: {
    lead: [
      callTool("read", { path: "config.env" }),
      say("The key is ghp_0123456789abcdefghijklmnopqrstuvwxyz."),
    ],
  },
  files: { "config.env": "GITHUB_TOKEN=ghp_0123456789abcdefghijklmnopqrstuvwxyz\nNAME=shop\n" },
  request: { agent: "lead", task: "Read the configuration." },
});
