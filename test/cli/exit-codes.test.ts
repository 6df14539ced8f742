import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ModelReply, type ModelRequest, startModel } from "./model.ts";
import { type CallOptions, type Ended, World } from "./world.ts";

/** One call of the program: what it is told, the code it must answer with, and the message for its caller. */
type Case = {
  when: string;
  args: readonly string[];
  code: number;
  /** Of stderr; a text that must be in it. */
  says?: RegExp;
  /** What stdout must be; nothing if absent. */
  prints?: string;
  script?: (request: ModelRequest) => ModelReply;
  /** Fields of the agent `main`. */
  main?: string;
  settings?: object;
  call?: CallOptions;
};

const NO_MODEL = { RETINUE_DISCOVER: "0" };
/** Nothing listens on the first port. */
const REFUSED = { RETINUE_BASE_URL: "http://127.0.0.1:1/v1", RETINUE_MODEL: "mock", RETINUE_DISCOVER: "0" };
const fine = () => ({ text: "fine" });
const asking = ({ turn }: ModelRequest): ModelReply =>
  turn === 0 ? { calls: [{ name: "write", input: { path: "a", content: "b" } }] } : { text: "without it" };
const endless = ({ last }: ModelRequest): ModelReply =>
  last.includes("limit") ? { text: "half" } : { calls: [{ name: "ls", input: {} }] };

const CASES: readonly Case[] = [
  { when: "the task is done", args: ["run", "a task"], code: 0, script: fine, prints: "fine\n" },
  { when: "help is asked for", args: ["run", "--help"], code: 0, prints: "Usage: retinue run" },
  {
    when: "the model refuses the request",
    args: ["run", "a task"],
    code: 1,
    script: () => ({ status: 400, message: "no such thing" }),
    says: /^error: .*no such thing/m,
  },
  {
    when: "nobody listens where the model should be",
    args: ["run", "a task"],
    code: 1,
    call: { env: REFUSED },
    says: /^error: .*127\.0\.0\.1:1/m,
  },
  {
    when: "the answer does not fit its schema",
    args: ["run", "a task", "--json-schema", '{"type": "object"}'],
    code: 1,
    script: fine,
    says: /^error: .*it is not JSON/m,
  },
  {
    when: "a flag is unknown",
    args: ["run", "a task", "--modle", "x"],
    code: 2,
    says: /^error: unknown option '--modle'\n.*Did you mean --model/m,
  },
  {
    when: "a command is unknown",
    args: ["trcae"],
    code: 2,
    says: /^error: unknown command 'trcae'\n.*Did you mean trace/m,
  },
  { when: "a value is missing", args: ["run", "a task", "--model"], code: 2, says: /argument missing/ },
  {
    when: "a value is none of the choices",
    args: ["run", "a task", "--on-ask", "pray"],
    code: 2,
    says: /Allowed choices are deny, park/,
  },
  {
    when: "two flags exclude each other",
    args: ["run", "a task", "-c", "-r", "ses_1"],
    code: 2,
    says: /cannot be used with/,
  },
  { when: "there is no task", args: ["run"], code: 2, script: fine, says: /^error: there is no task/ },
  { when: "a number is none", args: ["run", "a task", "--max-turns", "few"], code: 2, says: /whole number/ },
  {
    when: "no key is there",
    args: ["run", "a task"],
    code: 41,
    main: "model: anthropic/claude-x",
    says: /ANTHROPIC_API_KEY/,
  },
  {
    when: "the key is refused",
    args: ["run", "a task"],
    code: 41,
    script: () => ({ status: 401, message: "bad key" }),
    says: /^error: .*bad key/m,
  },
  {
    when: "the agent is unknown",
    args: ["run", "a task", "--agent", "mian"],
    code: 42,
    script: fine,
    says: /^error: no agent 'mian'; did you mean 'main'\?/,
  },
  {
    when: "the session is unknown",
    args: ["run", "-r", "ses_none", "go on"],
    code: 42,
    says: /^error: no session 'ses_none'/,
  },
  {
    when: "nothing can be continued",
    args: ["-c", "go on"],
    code: 42,
    says: /^error: this project has no session/,
  },
  {
    when: "the schema is not there",
    args: ["run", "a task", "--json-schema", "none.json"],
    code: 42,
    says: /^error: --json-schema cannot be used: .*none\.json/,
  },
  {
    when: "no model has that name",
    args: ["run", "a task", "-m", "work/big"],
    code: 52,
    call: { env: NO_MODEL },
    says: /^error: no model 'work\/big'/,
  },
  {
    when: "the settings are wrong",
    args: ["run", "a task"],
    code: 52,
    settings: { maxDepth: "two" },
    says: /^error: .*'maxDepth' must be integer/,
  },
  {
    when: "a limit is reached",
    args: ["run", "a task", "--max-turns", "1"],
    code: 53,
    script: endless,
    prints: "half\n",
  },
  {
    when: "an ask is denied because nobody is there",
    args: ["run", "a task"],
    code: 54,
    main: "askTools: [write]",
    script: asking,
    prints: "without it\n",
    says: /^🚫 denied, nobody is there to ask/m,
  },
  {
    when: "an ask is left for later",
    args: ["run", "a task", "--on-ask", "park"],
    code: 54,
    main: "askTools: [write]",
    script: asking,
    says: /^hint: see it and answer with: retinue approve apr_/m,
  },
];

async function callIn(
  world: World,
  { args, main = "", script, settings, call }: Case,
  how: "run" | "call" = "call",
): Promise<Ended> {
  world.agent("main", main);
  if (settings) world.writeAt(join(world.config, "retinue/settings.json"), JSON.stringify(settings));
  if (script) world.model = await startModel(script);
  return world[how](args, call);
}

function expectPlain({ stdout, stderr }: Ended): void {
  expect(stdout).not.toContain("\u001b");
  expect(stderr).not.toContain("\u001b");
}

for (const one of CASES) {
  test(`${one.code} when ${one.when}`, async () => {
    await using world = new World();
    // One of each is the exit code of a process.
    const isFirst = CASES.find(({ code }) => code === one.code) === one;
    const ended = await callIn(world, one, isFirst ? "run" : "call");
    expect([ended.code, ended.stderr]).toEqual([one.code, expect.stringMatching(one.says ?? /.*/)]);
    if (one.prints) expect(ended.stdout.startsWith(one.prints)).toBe(true);
    else expect(ended.stdout).toBe("");
    expectPlain(ended);
  });
}

const planned = JSON.stringify({
  tools: ["gmail_send_email", "gmail_get_delivery_status"],
  params: {},
  sequence: ["gmail_send_email", "gmail_get_delivery_status"],
});
const mail = { recipients: ["jo@x.example"], subject: "Hi", body: "Hello." };
const look: ModelReply = { calls: [{ name: "gmail_get_delivery_status", input: { message_id: "none" } }] };
const send: ModelReply = { calls: [{ name: "gmail_send_email", input: mail }] };
test.each([
  { when: "a mail was sent and its delivery could not be looked up", code: 0, steps: [send, look, look] },
  { when: "a delivery was looked up and no mail was sent", code: 1, steps: [look] },
])("$code when $when", async ({ code, steps }) => {
  await using world = new World();
  world.model = await startModel(
    ({ turn }) =>
      [{ text: planned }, ...steps, { text: "I stop." }, { text: "That is all." }][turn] ?? fine(),
  );
  const args = ["run", "--agent", "email", "Send it", "--output-format", "json"];
  const ended = await world.run([...args, "--allowed-tools", "gmail_send_email(jo@x.example)"]);
  const result = JSON.parse(ended.stdout);
  expect([ended.code, result.is_error]).toEqual([code, code !== 0]);
  expect(result.warnings.join()).toMatch(code === 0 ? /'gmail_get_delivery_status' did not succeed/ : /^$/);
  if (code === 0) expect(result.summary).toMatch(/^Done: gmail_send_email \(message_id \S+\)\. \w/);
});

/** A host that takes connections and never says a word. */
async function blackHole(): Promise<{ url: string; server: Server }> {
  const server = createServer((socket) => socket.on("error", () => {}).resume());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/v1`, server };
}

test("1 when the model's host takes the request and never answers", async () => {
  await using world = new World();
  const { url, server } = await blackHole();
  const ended = await callIn(world, {
    when: "",
    args: ["run", "a task"],
    code: 1,
    settings: { watchdog: { firstTokenMs: 300, idleMs: 300 } },
    call: { env: { ...REFUSED, RETINUE_BASE_URL: url } },
  });
  server.close();
  expect([ended.code, ended.stdout]).toEqual([1, ""]);
  expect(ended.stderr).toMatch(/^error: .*(300|0\.3)/m);
  expectPlain(ended);
});

test("130 and 143 when a signal stops it, also while the model's host is silent", async () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    await using world = new World();
    const { url, server } = await blackHole();
    world.agent("main", "");
    const started = world.start(["run", "a task"], { env: { ...REFUSED, RETINUE_BASE_URL: url } });
    await started.stderrHas("▶ started main");
    started.child.kill(signal);
    const ended = await started.ended;
    server.close();
    expect([ended.code, ended.signal, ended.stdout]).toEqual([code, null, ""]);
    expectPlain(ended);
  }
});
