import { codeTools, createRuntime, defineAgent } from "retinue";
import { callDelegate, say, scriptedModel } from "retinue/testing";

const lead = defineAgent({
  name: "lead",
  description: "Answers questions about the project.",
  prompt: "Hand the looking to the scout, then answer in one sentence.",
  tools: ["read"],
  subagents: { allow: ["scout"] },
});
const scout = defineAgent({
  name: "scout",
  description: "Finds things in the project.",
  prompt: "Find what you are asked for and say where it is.",
  tools: ["read", "ls"],
});

// Any `LanguageModelV4` works here, and so does a name such as "anthropic/claude-sonnet-4-5".
const model = scriptedModel("demo", [
  callDelegate("scout", "Where is the entry point?"),
  say("It is src/index.ts."),
  say("The entry point is src/index.ts."),
]);

const runtime = createRuntime({ agents: [lead, scout], tools: codeTools, model, database: ":memory:" });
runtime.events((event) => {
  if (event.type === "run.ended") console.log(`${event.agent}: ${event.result.status}`);
});
const result = await runtime.run({ agent: "lead", task: "Where does this project start?" });
console.log(result.summary);
await runtime.close();
