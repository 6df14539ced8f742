// VoltAgent: an agent's sub-agents are given as `subAgents` and called by the built-in tool `delegate_task`.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Agent, createTool } from "@voltagent/core";
import { z } from "zod";

// The AI SDK below it warns of VoltAgent's own system messages at every call; writing that is not to be measured.
console.warn = () => {};

export function createPeer(baseURL) {
  const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none", includeUsage: true });
  const model = provider.chatModel("mock");
  const worker = new Agent({
    name: "worker",
    purpose: "Works.",
    model,
    instructions: "You take notes and report.",
    tools: [
      createTool({
        name: "note",
        description: "Takes a note.",
        parameters: z.object({ text: z.string() }),
        execute: async ({ text }) => `noted ${text}`,
      }),
    ],
  });
  const lead = new Agent({ name: "lead", model, instructions: "You lead.", subAgents: [worker] });
  return { start: () => run(worker, "first"), fanOut: (size) => run(lead, `fan out ${size} agent worker`) };
}

async function run(agent, task) {
  const result = await agent.streamText(task);
  return await result.text;
}
