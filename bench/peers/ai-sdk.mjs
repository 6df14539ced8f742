// Vercel AI SDK: a sub-agent is a tool whose `execute` runs another agent, as its documentation shows.
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ToolLoopAgent, tool } from "ai";
import { z } from "zod";

export function createPeer(baseURL) {
  const provider = createOpenAICompatible({ name: "bench", baseURL, apiKey: "none", includeUsage: true });
  const model = provider.chatModel("mock");
  const worker = new ToolLoopAgent({
    model,
    instructions: "You take notes and report.",
    tools: {
      note: tool({
        description: "Takes a note.",
        inputSchema: z.object({ text: z.string() }),
        execute: async ({ text }) => `noted ${text}`,
      }),
    },
  });
  const lead = new ToolLoopAgent({
    model,
    instructions: "You lead.",
    tools: {
      delegate_many: tool({
        description: "Hands out tasks.",
        inputSchema: z.object({ tasks: z.array(z.object({ task: z.string() })) }),
        execute: ({ tasks }, { abortSignal }) =>
          Promise.all(tasks.map(({ task }) => run(worker, task, abortSignal))),
      }),
    },
  });
  return { start: () => run(worker, "first"), fanOut: (size) => run(lead, `fan out ${size} agent worker`) };
}

async function run(agent, prompt, abortSignal) {
  const result = await agent.stream({ prompt, abortSignal });
  return await result.text;
}
