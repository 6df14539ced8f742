import { callDelegate, type ScriptRequest, say } from "../retinue.ts";
import { defineScenario } from "../scenario.ts";

export default defineScenario({
  title: "a child builds on the result of another and on a file",
  scripts: {
    lead: [
      callDelegate("worker", "find the price"),
      (request) =>
        callDelegate("worker", "write it down", {
          fromResults: [findRun(request)],
          contextFiles: ["notes.txt"],
        }),
      say("It is written down."),
    ],
    worker: [say("The price is 12 EUR."), say("Written: 12 EUR.")],
  },
  files: { "notes.txt": "Prices are in euros.\n" },
  request: { agent: "lead", task: "Find the price and write it down." },
});

function findRun({ prompt }: ScriptRequest): string {
  return /run_id="(run_\w+)"/.exec(prompt)?.[1] ?? "none";
}
