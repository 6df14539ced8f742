import { openAiServer } from "../openai-server.ts";
import { defineScenario } from "../scenario.ts";
import { look } from "../tools.ts";

const server = openAiServer([
  { calls: [{ tool: "look", input: { at: "the sea" } }] },
  { status: 500, error: "something broke" },
  { text: "The sea is as it was." },
  { status: 401, error: "the key is wrong" },
]);

export default defineScenario({
  title:
    "a model behind a server in OpenAI's format streams a call and a text, fails once, then refuses the key",
  tools: [look],
  more: [
    {
      name: "sailor",
      description: "Looks at the sea.",
      prompt: "You look at the sea.",
      model: "local/mock",
      tools: "look",
    },
  ],
  server,
  play: async ({ runtime }) => [
    await runtime.run({ agent: "sailor", task: "Look at the sea." }),
    await runtime.run({ agent: "sailor", task: "Look again." }),
    server.seen,
  ],
});
