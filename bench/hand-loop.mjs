// The delegation written by hand, shared by the fetch loop and the journaling loop. They differ in how a model is called
// and in whether events are journaled. Plain JavaScript, so that start-up measures the loop and not the stripping of types.

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

/** Returns a function that takes the lines of a streamed reply one at a time, and the reply they fill. */
export function collectReply() {
  const reply = { text: "", calls: [] };
  const readLine = (line) => {
    if (!line.startsWith("data: ") || line === "data: [DONE]") return;
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
  };
  return { reply, readLine };
}

/** The body of a request to the model. */
export function writeRequest(messages, tools) {
  return JSON.stringify({
    model: "mock",
    stream: true,
    stream_options: { include_usage: true },
    messages,
    tools,
  });
}

/**
 * The agents of the benchmark. `journal`, if given, hears of every model call and tool call when it opens and when it
 * closes: `open(parentId, kind, input)` returns an id, `close(id, output)` takes it. A run's first model call carries its
 * prompt; what later calls are sent stands in the rows before them.
 */
export function createAgents(callModel, journal) {
  async function runAgent(system, task, tools, above) {
    const messages = [
      { role: "system", content: system },
      { role: "user", content: task },
    ];
    while (true) {
      const turn = journal?.open(above, "model_call", messages.length === 2 ? messages : null);
      const reply = await callModel(messages, tools);
      journal?.close(turn, reply);
      messages.push({
        role: "assistant",
        content: reply.text,
        ...(reply.calls.length > 0 && { tool_calls: reply.calls }),
      });
      if (reply.calls.length === 0) return reply.text;
      const results = await Promise.all(reply.calls.map((call) => answerCall(call.function, turn)));
      for (const [index, call] of reply.calls.entries())
        messages.push({ role: "tool", tool_call_id: call.id, content: results[index] });
    }
  }

  async function answerCall(call, turn) {
    const id = journal?.open(turn, call.name, call.arguments);
    const input = JSON.parse(call.arguments);
    const output =
      call.name === "note"
        ? `noted ${input.text}`
        : JSON.stringify(await Promise.all(input.tasks.map((task) => runChild(task, id))));
    journal?.close(id, output);
    return output;
  }

  /** In a chain every child may delegate in its turn; otherwise children only take notes. */
  const runChild = ({ task }, above = null) =>
    runAgent("You take notes and report.", task, /^chain /.test(task) ? [NOTE, MANY] : [NOTE], above);

  return {
    runChild,
    runParent: (size) => runAgent("You lead.", `fan out ${size} agent worker`, [MANY], null),
    runChain: (depth) => runAgent("You lead.", `chain ${depth} agent worker`, [MANY], null),
  };
}
