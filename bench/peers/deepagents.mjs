// Deep Agents: the built-in tool `task` runs a named sub-agent. Its own tools (files, to-do list) come with every agent.
// `stream` makes the models stream. Their option `streaming` would, too, but then fetches a tokenizer from the web.
import { ChatOpenAI } from "@langchain/openai";
import { createDeepAgent } from "deepagents";
import { tool } from "langchain";
import { z } from "zod";

export function createPeer(baseURL) {
  const model = new ChatOpenAI({
    model: "mock",
    apiKey: "none",
    useResponsesApi: false,
    configuration: { baseURL },
  });
  const note = tool(async ({ text }) => `noted ${text}`, {
    name: "note",
    description: "Takes a note.",
    schema: z.object({ text: z.string() }),
  });
  const lead = createDeepAgent({
    model,
    systemPrompt: "You lead.",
    subagents: [
      { name: "worker", description: "Works.", systemPrompt: "You take notes and report.", tools: [note] },
    ],
  });
  return {
    start: () =>
      run(createDeepAgent({ model, systemPrompt: "You take notes and report.", tools: [note] }), "first"),
    fanOut: (size) => run(lead, `fan out ${size} agent worker`),
  };
}

async function run(agent, content) {
  const messages = [{ role: "user", content }];
  for await (const part of await agent.stream({ messages }, { streamMode: "messages", subgraphs: true }))
    void part;
}
