// The yardstick: the same delegation written by hand on the global `fetch`, with no record, rights or budgets.
// Plain JavaScript, so that start-up measures the loop and not the stripping of types.
import { cpuOf, heapWhileHeld, report } from "./measure.mjs";

const { BENCH_URL: base, BENCH_N: count, BENCH_MODE: mode } = process.env;
const n = Number(count);

const NOTE = {
  type: "function",
  function: {
    name: "note",
    description: "Takes a note.",
    parameters: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
};
const MANY = {
  type: "function",
  function: {
    name: "delegate_many",
    description: "Hands out tasks.",
    parameters: { type: "object", properties: { tasks: { type: "array" } } },
  },
};

async function callModel(messages, tools) {
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer none" },
    body: JSON.stringify({
      model: "mock",
      stream: true,
      stream_options: { include_usage: true },
      messages,
      tools,
    }),
  });
  const decoder = new TextDecoder();
  const reply = { text: "", calls: [] };
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (!line.startsWith("data: ") || line === "data: [DONE]") continue;
      const delta = JSON.parse(line.slice(6)).choices[0]?.delta;
      if (delta?.content) reply.text += delta.content;
      for (const call of delta?.tool_calls ?? []) {
        reply.calls[call.index] ??= {
          id: call.id,
          type: "function",
          function: { name: call.function.name, arguments: "" },
        };
        reply.calls[call.index].function.arguments += call.function.arguments ?? "";
      }
    }
  }
  return reply;
}

async function runAgent(system, task, tools, execute) {
  const messages = [
    { role: "system", content: system },
    { role: "user", content: task },
  ];
  while (true) {
    const reply = await callModel(messages, tools);
    messages.push({
      role: "assistant",
      content: reply.text,
      ...(reply.calls.length > 0 && { tool_calls: reply.calls }),
    });
    if (reply.calls.length === 0) return reply.text;
    const results = await Promise.all(
      reply.calls.map((call) => execute(JSON.parse(call.function.arguments))),
    );
    for (const [index, call] of reply.calls.entries())
      messages.push({ role: "tool", tool_call_id: call.id, content: results[index] });
  }
}

const child = (task) =>
  runAgent("You take notes and report.", task.task, [NOTE], async ({ text }) => `noted ${text}`);
const parent = (size) =>
  runAgent("You lead.", `fan out ${size} agent worker`, [MANY], async ({ tasks }) =>
    JSON.stringify(await Promise.all(tasks.map(child))),
  );

if (mode === "start") await child({ task: "first" });
else if (mode === "heap") report(await heapWhileHeld(base, n, parent));
else report(await cpuOf(() => parent(n)));
