/**
 * A local stand-in for a model provider, run in a process of its own: `node bench/server.ts --port 0` prints `{"port":N}`.
 *
 * It speaks OpenAI's `/v1/chat/completions` and Anthropic's `/v1/messages` and plays a fixed part, chosen by the request:
 * - the tool `delegate_many` and a task with "fan out N", or a model `mock-delegate-N`: one call with N tasks, then a text;
 * - a delegating tool that takes a single task (see SINGLE) and "fan out N": N calls of it at once, then a text;
 * - `delegate_many` and "chain N": a note if it has the tool, then a task "chain N-1", then a text;
 * - the tool `note`: two calls of it, then a closing text, so three model calls a child;
 * - anything else: a text.
 * Header `x-mock-tokens: N` sets in how many pieces a reply comes.
 *
 * `POST /hold?count=N` withholds replies, other than a parent's, until N are open at once; then all go, and holding ends. `GET /stats` gives `{requests, open, maxOpen, held}`; `POST /reset` clears the counts.
 */
import http from "node:http";
import { parseArgs } from "node:util";

type Reply = { tool: string; inputs: unknown[] } | { text: string };
type Message = { role: string; content: unknown; tool_calls?: unknown[] };
type Request = {
  model?: string;
  messages?: Message[];
  tools?: { name?: string; function?: { name?: string } }[];
};

const stats = { requests: 0, open: 0, maxOpen: 0 };
let holdCount = 0;
let held: (() => void)[] = [];

const server = http.createServer((request, response) => {
  const url = new URL(request.url ?? "/", "http://localhost");
  if (url.pathname === "/stats") return sendJson(response, { ...stats, held: held.length });
  if (url.pathname === "/hold") return setHold(Number(url.searchParams.get("count")), response);
  if (url.pathname === "/reset") return sendJson(response, Object.assign(stats, { requests: 0, maxOpen: 0 }));
  const pieces = Number(request.headers["x-mock-tokens"] ?? 20);
  readBody(request, (body) => serve(url.pathname, JSON.parse(body), pieces, response));
});
server.keepAliveTimeout = 60_000;
const { values } = parseArgs({ options: { port: { type: "string", default: "0" } } });
server.listen({ port: Number(values.port), host: "127.0.0.1", backlog: 4096 }, () => {
  const address = server.address();
  console.log(JSON.stringify({ port: typeof address === "object" ? address?.port : address }));
});

function serve(path: string, body: Request, pieces: number, response: http.ServerResponse): void {
  stats.requests++;
  stats.open++;
  stats.maxOpen = Math.max(stats.maxOpen, stats.open);
  response.once("close", () => stats.open--);
  const reply = chooseReply(body);
  const frames = path.endsWith("/messages") ? anthropicFrames(reply, pieces) : openAiFrames(reply, pieces);
  const send = () => stream(response, frames);
  if (fanOutOf(body) > 0) send();
  else held.push(send);
  if (held.length >= holdCount) release();
}

function setHold(count: number, response: http.ServerResponse): void {
  holdCount = count;
  if (held.length >= count) release();
  sendJson(response, { holdCount });
}

function release(): void {
  holdCount = 0;
  const waiting = held;
  held = [];
  for (const send of waiting) send();
}

/** The delegating tools of peers that hand over one task a call, and how the task of the agent `worker` is put. */
const SINGLE: Record<string, (task: string) => unknown> = {
  task: (task) => ({ description: task, subagent_type: "worker" }),
  delegate_task: (task) => ({ task, targetAgents: ["worker"] }),
  worker: (task) => ({ input: task }),
  "agent-worker": (task) => ({ prompt: task }),
};

/** Which of its calls this is shows in the conversation: one tool result per call already made. */
function chooseReply(body: Request): Reply {
  const messages = body.messages ?? [];
  const results = messages.reduce((count, message) => count + toolResults(message), 0);
  const hasNote = toolsOf(body).has("note");
  const chain = chainOf(body);
  if (chain > 0) {
    if (hasNote && results === 0) return takeNote(1);
    if (results === (hasNote ? 1 : 0)) return delegate(body, [`chain ${chain - 1} agent ${agentOf(body)}`]);
    return textReply(body);
  }
  const fanOut = fanOutOf(body);
  if (fanOut > 0 && results === 0) {
    return delegate(
      body,
      Array.from({ length: fanOut }, (_, at) => `Look into part ${at} and report.`),
    );
  }
  if (hasNote && fanOut === 0 && results < 2) return takeNote(results + 1);
  return textReply(body);
}

function toolsOf(body: Request): Set<string | undefined> {
  return new Set((body.tools ?? []).map((tool) => tool.name ?? tool.function?.name));
}

function taskOf(body: Request): string {
  return JSON.stringify(body.messages?.find((message) => message.role === "user")?.content ?? "");
}

function agentOf(body: Request): string {
  return /agent[ :]+([\w-]+)/i.exec(taskOf(body))?.[1] ?? "general-purpose";
}

function delegatingTool(body: Request): string | undefined {
  const tools = toolsOf(body);
  return ["delegate_many", ...Object.keys(SINGLE)].find((tool) => tools.has(tool));
}

/** How many children a parent makes; 0 for everybody else. */
function fanOutOf(body: Request): number {
  if (!delegatingTool(body)) return 0;
  const named = /fan out (\d+)/i.exec(taskOf(body)) ?? /^mock-delegate-(\d+)$/.exec(body.model ?? "");
  return Number(named?.[1] ?? 0);
}

/** How many more delegations follow one another below this agent. */
function chainOf(body: Request): number {
  return toolsOf(body).has("delegate_many") ? Number(/chain (\d+)/.exec(taskOf(body))?.[1] ?? 0) : 0;
}

function takeNote(index: number): Reply {
  return { tool: "note", inputs: [{ text: `finding ${index}` }] };
}

function delegate(body: Request, tasks: string[]): Reply {
  const tool = delegatingTool(body) ?? "delegate_many";
  const single = SINGLE[tool];
  if (single) return { tool, inputs: tasks.map(single) };
  const agent = agentOf(body);
  return { tool, inputs: [{ tasks: tasks.map((task, at) => ({ id: `t${at}`, agent, task })) }] };
}

function textReply(body: Request): Reply {
  return { text: `All parts were looked into; ${body.messages?.length ?? 0} messages were read on the way.` };
}

function toolResults(message: Message): number {
  if (message.role === "tool") return 1;
  if (message.role !== "user" || !Array.isArray(message.content)) return 0;
  return message.content.filter((part) => part.type === "tool_result").length;
}

let nextId = 0;

function openAiFrames(reply: Reply, pieces: number): string[] {
  const id = `chatcmpl-${++nextId}`;
  const frame = (delta: unknown, finish: string | null = null) =>
    `data: ${JSON.stringify({ id, object: "chat.completion.chunk", model: "mock", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const frames = [frame({ role: "assistant", content: "" })];
  if ("text" in reply) {
    frames.push(...split(reply.text, pieces).map((content) => frame({ content })), frame({}, "stop"));
  } else {
    for (const [index, input] of reply.inputs.entries()) {
      const call = {
        index,
        id: index === 0 ? `call_${nextId}` : `call_${nextId}_${index}`,
        type: "function",
        function: { name: reply.tool, arguments: "" },
      };
      frames.push(frame({ tool_calls: [call] }));
      // Many calls of one reply come in a piece each.
      for (const part of split(JSON.stringify(input), reply.inputs.length > 1 ? 1 : pieces)) {
        frames.push(frame({ tool_calls: [{ index, function: { arguments: part } }] }));
      }
    }
    frames.push(frame({}, "tool_calls"));
  }
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  frames.push(`data: ${JSON.stringify({ id, model: "mock", choices: [], usage })}\n\n`, "data: [DONE]\n\n");
  return frames;
}

function anthropicFrames(reply: Reply, pieces: number): string[] {
  const frame = (value: { type: string }) => `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
  const event = (type: string, rest: object = {}) => frame({ type, ...rest });
  const isText = "text" in reply;
  if (!isText && reply.inputs.length > 1) throw new Error("Only one call a reply in this format.");
  const block = isText
    ? { type: "text", text: "" }
    : { type: "tool_use", id: `toolu_${++nextId}`, name: reply.tool, input: {} };
  const deltas = isText
    ? split(reply.text, pieces).map((text) => ({ type: "text_delta", text }))
    : split(JSON.stringify(reply.inputs[0]), pieces).map((partial_json) => ({
        type: "input_json_delta",
        partial_json,
      }));
  const message = { id: `msg_${nextId}`, model: "mock", usage: { input_tokens: 100, output_tokens: 1 } };
  return [
    event("message_start", { message }),
    event("content_block_start", { index: 0, content_block: block }),
    ...deltas.map((delta) => event("content_block_delta", { index: 0, delta })),
    event("content_block_stop", { index: 0 }),
    event("message_delta", {
      delta: { stop_reason: isText ? "end_turn" : "tool_use" },
      usage: { output_tokens: 20 },
    }),
    event("message_stop"),
  ];
}

/** Pieces of at least one character, so a short text comes in fewer. */
function split(text: string, pieces: number): string[] {
  const size = Math.max(1, Math.ceil(text.length / pieces));
  return Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
    text.slice(at * size, (at + 1) * size),
  );
}

/** Frames leave in several writes, as from a real server, but in few enough to keep this process cheap. */
function stream(response: http.ServerResponse, frames: string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  const batch = Math.max(1, Math.ceil(frames.length / 8));
  let at = 0;
  const next = () => {
    if (response.destroyed) return;
    const text = frames.slice(at, at + batch).join("");
    at += batch;
    if (at >= frames.length) return response.end(text);
    response.write(text);
    setImmediate(next);
  };
  next();
}

function readBody(request: http.IncomingMessage, then: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.once("end", () => then(Buffer.concat(chunks).toString("utf8") || "{}"));
}

function sendJson(response: http.ServerResponse, value: unknown): void {
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}
