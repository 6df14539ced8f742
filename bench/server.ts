/**
 * A local stand-in for a model provider, run in a process of its own: `node bench/server.ts --port 0` prints `{"port":N}`.
 *
 * It speaks OpenAI's `/v1/chat/completions` and Anthropic's `/v1/messages` and plays a fixed part, chosen by the request:
 * - the tool `delegate_many` and a task with "fan out N", or a model `mock-delegate-N`: one call with N tasks, then a text;
 * - the tool `note`: two calls of it, then a closing text, so three model calls a child;
 * - anything else: a text.
 * Header `x-mock-tokens: N` sets in how many pieces a reply comes.
 *
 * `POST /hold?count=N` withholds replies, other than a parent's, until N are open at once; then all go, and holding ends. `GET /stats` gives `{requests, open, maxOpen, held}`; `POST /reset` clears the counts.
 */
import http from "node:http";
import { parseArgs } from "node:util";

type Reply = { tool: string; input: unknown } | { text: string };
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

/** Which of its calls this is shows in the conversation: one tool result per call already made. */
function chooseReply(body: Request): Reply {
  const messages = body.messages ?? [];
  const results = messages.reduce((count, message) => count + toolResults(message), 0);
  const fanOut = fanOutOf(body);
  if (fanOut > 0 && results === 0) return delegateMany(fanOut, taskOf(body));
  if (toolsOf(body).has("note") && fanOut === 0 && results < 2) {
    return { tool: "note", input: { text: `finding ${results + 1}` } };
  }
  return textReply(body);
}

function toolsOf(body: Request): Set<string | undefined> {
  return new Set((body.tools ?? []).map((tool) => tool.name ?? tool.function?.name));
}

function taskOf(body: Request): string {
  return JSON.stringify(body.messages?.find((message) => message.role === "user")?.content ?? "");
}

/** How many children a parent makes; 0 for everybody else. */
function fanOutOf(body: Request): number {
  if (!toolsOf(body).has("delegate_many")) return 0;
  const named = /fan out (\d+)/i.exec(taskOf(body)) ?? /^mock-delegate-(\d+)$/.exec(body.model ?? "");
  return Number(named?.[1] ?? 0);
}

function delegateMany(count: number, request: string): Reply {
  const agent = /agent[ :]+([\w-]+)/i.exec(request)?.[1] ?? "general-purpose";
  const taskAt = (at: number) => ({ id: `t${at}`, agent, task: `Look into part ${at} and report.` });
  const tasks = Array.from({ length: count }, (_, at) => taskAt(at));
  return { tool: "delegate_many", input: { tasks } };
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
    const call = {
      index: 0,
      id: `call_${nextId}`,
      type: "function",
      function: { name: reply.tool, arguments: "" },
    };
    frames.push(frame({ tool_calls: [call] }));
    for (const part of split(JSON.stringify(reply.input), pieces)) {
      frames.push(frame({ tool_calls: [{ index: 0, function: { arguments: part } }] }));
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
  const block = isText
    ? { type: "text", text: "" }
    : { type: "tool_use", id: `toolu_${++nextId}`, name: reply.tool, input: {} };
  const deltas = isText
    ? split(reply.text, pieces).map((text) => ({ type: "text_delta", text }))
    : split(JSON.stringify(reply.input), pieces).map((partial_json) => ({
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
