// The yardstick: the delegation written by hand on the global `fetch`, with no record, rights or budgets.
import { collectReply, createAgents, writeRequest } from "./hand-loop.mjs";
import { measureAgents } from "./measure.mjs";

const { BENCH_URL: base } = process.env;

async function callModel(messages, tools) {
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer none" },
    body: writeRequest(messages, tools),
  });
  const decoder = new TextDecoder();
  const { reply, readLine } = collectReply();
  let rest = "";
  for await (const chunk of response.body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) readLine(line);
  }
  return reply;
}

const { runChild, runParent, runChain } = createAgents(callModel);
await measureAgents({ start: () => runChild({ task: "first" }), fanOut: runParent, chain: runChain });
