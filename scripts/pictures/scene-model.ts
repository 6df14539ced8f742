import http from "node:http";
import type { AddressInfo } from "node:net";

/** What the stand-in for a model answers: calls, a text, a text that stays unfinished, or a refusal. */
type Reply =
  | { calls: readonly { name: string; input: unknown }[]; text?: string }
  | { text: string }
  | { unfinished: string }
  | { status: number };

type Request = { system: string; task: string; turn: number };
type Scene = Readonly<Record<string, (request: Request) => Reply>>;

const delegate = (tasks: readonly (readonly [id: string, agent: string, task: string])[]): Reply => ({
  calls: [
    { name: "delegate_many", input: { tasks: tasks.map(([id, agent, task]) => ({ id, agent, task })) } },
  ],
});
const call = (name: string, input: unknown, text = ""): Reply => ({ calls: [{ name, input }], text });

const step = (id: string, title: string, role: string, dependsOn: readonly string[], file: string) => ({
  id,
  title,
  role,
  task: `${title}, in ${file}.`,
  dependsOn,
  files: [file],
  successCriteria: [`${file} does it, and a test shows it`],
  estimate: { toolCalls: 8, minutes: 3 },
});

const PLAN = {
  goal: "Let customers pay with gift cards",
  summary:
    "A card is money with a number: first what it is, then paying with it, then what the receipt says.",
  risks: ["It is not known whether a card may be used for more than one purchase."],
  steps: [
    step("look", "Find where a price is paid", "researcher", [], "src/cart.js"),
    step("card", "Keep what is left on a card", "coder", ["look"], "src/card.js"),
    step("pay", "Pay with a gift card", "coder", ["look"], "src/cart.js"),
    step("tests", "Test small, exact and empty cards", "tester", ["card", "pay"], "test/card.test.js"),
    step("review", "Review how money is rounded", "reviewer", ["card", "pay"], "src/card.js"),
  ],
};

/** Who does what in the pictures: a shop's discount is fixed by several agents at once, one of which asks for approval. */
const SCENE: Scene = {
  main: ({ turn }) =>
    turn === 0
      ? delegate([
          ["uses", "researcher", "Find every place that works out or shows a discount"],
          ["rounding", "researcher", "Find out how receipts are rounded"],
          ["fix", "coder", "Divide the percentage by 100 in src/cart.js, and show it with a test"],
          ["receipt", "reviewer", "Review src/receipt.js"],
          ["tell", "herald", "Tell Ruth Okafor at Acme that the discount is being fixed"],
        ])
      : { text: "The discount is fixed." },
  researcher: ({ turn, task }) => {
    if (/rounded/.test(task))
      return turn === 0 ? call("grep", { pattern: "round|toFixed" }) : { status: 400 };
    if (turn === 0) return call("grep", { pattern: "discount" });
    if (turn === 1) return call("read", { path: "src/discount.js" });
    return {
      unfinished:
        "Discounts live in **two places**:\n\n- `src/discount.js` gives a percentage: 5 for regular customers, and 10 more above 100\n- `src/cart.js` takes it off the total, but as if it were a share\n\nSo a regular customer's cart of 20 costs",
    };
  },
  coder: ({ turn }) => {
    if (turn === 0) return call("read", { path: "src/cart.js" }, "First the code as it is.");
    if (turn === 1)
      return call(
        "edit",
        {
          path: "src/cart.js",
          old: "return total - total * discountPercent({ total, isRegular: cart.isRegular });",
          new: "return total - (total * discountPercent({ total, isRegular: cart.isRegular })) / 100;",
        },
        "`discountPercent` gives percent, so the product has to be divided by 100.",
      );
    return turn === 2
      ? delegate([
          ["test", "tester", "Run the tests of the cart and add one for carts above 100"],
          ["look", "reviewer", "Review the change of src/cart.js"],
        ])
      : { text: "Fixed and tested." };
  },
  tester: ({ turn }) =>
    turn === 0
      ? call("read", { path: "test/cart.test.js" })
      : {
          unfinished:
            "Both tests pass now. For carts above 100 there is none yet; I add one with 10 × 12, where 10 percent come off",
        },
  reviewer: ({ turn, task }) => {
    if (turn === 0) return call("read", { path: /receipt/.test(task) ? "src/receipt.js" : "src/cart.js" });
    return /receipt/.test(task)
      ? {
          text: "One finding: `src/receipt.js:6` prints the price as it comes, so 19.999999999999996 may stand on a receipt. Round to cents.",
        }
      : {
          unfinished:
            "The division is right. The empty `catch` around it still hides every error of the cart:",
        };
  },
  "task planner": () => ({ text: JSON.stringify(PLAN) }),
  herald: ({ turn }) =>
    turn === 0
      ? call("gmail_send_email", {
          recipients: ["ruth.okafor@acme.example"],
          subject: "Discounts on your receipts",
          body: "Dear Ruth,\n\nregular customers were charged too little since Monday. The mistake is found and is being fixed today.\n\nBest wishes\nAlex",
        })
      : { text: "Told." },
};

/** Starts the stand-in; `close` ends it with everything that is unfinished. */
export async function startSceneModel(): Promise<{ url: string; close(): void }> {
  const server = http.createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      if (request.method === "POST") answer(JSON.parse(text), response);
      else response.end(JSON.stringify({ object: "list", data: [{ id: "scripted", object: "model" }] }));
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

type Body = { messages: { role: string; content: unknown }[] };

function answer({ messages }: Body, response: http.ServerResponse): void {
  const said = (role: string) => messages.filter((one) => one.role === role);
  const request = {
    system: joinText(said("system")[0]?.content),
    task: joinText(said("user")[0]?.content),
    turn: said("assistant").length,
  };
  const reply = SCENE[findAgentName(request)]?.(request) ?? { text: "Done." };
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "the request was refused: no such deployment" } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  if ("unfinished" in reply) send(response, { content: reply.unfinished });
  else finish(reply, request, response);
}

let calls = 0;

function finish(
  reply: Exclude<Reply, { status: number } | { unfinished: string }>,
  { turn }: Request,
  response: http.ServerResponse,
): void {
  const tools = ("calls" in reply ? reply.calls : []).map(({ name, input }, index) => ({
    index,
    id: `call_${++calls}`,
    type: "function",
    function: { name, arguments: JSON.stringify(input) },
  }));
  send(response, { content: reply.text ?? "", ...(tools.length > 0 && { tool_calls: tools }) });
  send(response, {}, tools.length > 0 ? "tool_calls" : "stop");
  const usage = { prompt_tokens: 2_400 + turn * 1_350, completion_tokens: 180 + turn * 90 };
  response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
}

function send(response: http.ServerResponse, delta: object, finish_reason: string | null = null): void {
  response.write(`data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
}

/** Whose turn it is: a sub-agent's prompt names its role, the main agent's none. */
function findAgentName({ system }: Request): string {
  const role = /You are \*\*(.+?)\*\*, a sub-agent/.exec(system)?.[1]?.toLowerCase() ?? "main";
  return role.replace("code reviewer", "reviewer");
}

function joinText(content: unknown): string {
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((part: { text?: string }) => part.text ?? "").join("") : "";
}
