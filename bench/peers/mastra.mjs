// Mastra: an agent's sub-agents are given as `agents` and called by tools named after them.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

export function createPeer(baseURL) {
  const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none", includeUsage: true });
  const model = provider.chatModel("mock");
  const worker = new Agent({
    id: "worker",
    name: "worker",
    description: "Works.",
    model,
    instructions: "You take notes and report.",
    tools: {
      note: createTool({
        id: "note",
        description: "Takes a note.",
        inputSchema: z.object({ text: z.string() }),
        execute: async ({ text }) => `noted ${text}`,
      }),
    },
  });
  const lead = new Agent({ id: "lead", name: "lead", model, instructions: "You lead.", agents: { worker } });
  return { start: () => run(worker, "first"), fanOut: (size) => run(lead, `fan out ${size} agent worker`) };
}

/** Ten tool calls at once are the default; here all are to be open. */
async function run(agent, task) {
  const result = await agent.stream(task, { toolCallConcurrency: 100_000 });
  const text = await result.text;
  if (result.error) throw result.error;
  return text;
}
