/**
 * Measures what the program's side of the talk with a model costs. A scripted model (contract-model.ts) plays the same moves
 * of five tasks (contract-tasks.ts) against the built program in temporary git projects: requests, bytes both ways, refused
 * calls, wasted turns. Then the first requests of four agents are taken apart. `npm run bench:contract` prints both tables;
 * `--cli PATH` measures another build's dist/cli.js, `--json FILE` writes the numbers, `--log FILE` every request and reply.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import {
  type ChatRequest,
  type Cost,
  readText,
  type ScriptedModel,
  startScriptedModel,
} from "./contract-model.ts";
import { FIRST_TASKS, HELLO, KINDS, TASKS, type Task } from "./contract-tasks.ts";

const { values } = parseArgs({
  options: { cli: { type: "string" }, json: { type: "string" }, log: { type: "string" } },
});
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const cli = values.cli ? resolve(values.cli) : here("../dist/cli.js");
const MAILBOX = here("../examples/assistant");
const HELLO_GOAL = 12_000;

type Measured = Cost & { task: string; ended: string; refusals: readonly string[] };
/** Bytes of a first request, by part. */
type Parts = Record<(typeof PARTS)[number], number>;

/** Runs one task in a project of its own, as a person would who has never used the program on this machine. */
async function measure(task: Task, model: ScriptedModel): Promise<Measured> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-contract-")));
  const project = join(root, "project");
  try {
    for (const [path, content] of Object.entries(task.files)) put(join(project, path), content);
    if (task === KINDS) cpSync(MAILBOX, join(project, "mailbox"), { recursive: true });
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: join(root, "home"),
      XDG_CONFIG_HOME: join(root, "config"),
      RETINUE_HOME: join(root, "data"),
      RETINUE_BASE_URL: model.url,
      RETINUE_MODEL: "scripted",
      TZ: "UTC",
    };
    put(join(env.HOME, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "-A"],
      ["commit", "-q", "-m", "Begin"],
    ])
      execFileSync("git", args, { cwd: project, env });
    model.begin(task.scripts);
    const child = spawn(process.execPath, [cli, ...task.args], {
      cwd: project,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const closed = new Promise<number | null>((resolve) => child.once("close", resolve));
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
    log({ args: task.args, code, stdout, stderr });
    const ended =
      code === 0 ? judge(task, project, stdout) : `exit code ${code}: ${stderr.trim().split("\n").at(-1)}`;
    return { task: task.name, ...model.cost, ended, refusals: model.refusals };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** How a task that came to its end ended: well, or what is not as it should be. */
function judge({ leaves, prints }: Task, project: string, stdout: string): string {
  for (const [path, held] of Object.entries(leaves)) {
    const file = join(project, path);
    if (!existsSync(file) || !held.test(readFileSync(file, "utf8"))) return `${path} is not as it should be`;
  }
  return prints.test(stdout) ? "well" : `it printed: ${stdout.slice(0, 200)}`;
}

function log(entry: object): void {
  if (values.log) appendFileSync(values.log, `${JSON.stringify(entry)}\n`);
}

function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const PARTS = [
  "role",
  "environment",
  "instructions",
  "agents",
  "standing",
  "tools",
  "rest",
  "total",
] as const;
/** The headings that parts of a system prompt begin with; what comes before the first is the role. */
const HEADINGS: Readonly<Record<string, (typeof PARTS)[number]>> = {
  "## Environment": "environment",
  "## Project instructions": "instructions",
  "## Sub-agents": "agents",
  "## Where you stand": "standing",
  "## Limits": "standing",
  "## Your result": "standing",
};

/** Takes a request apart: bytes on the wire by part; the rest is the task's message and the braces. */
function takeApart(body: string): Parts {
  const { messages, tools = [] } = JSON.parse(body) as ChatRequest;
  const system = readText(messages.find(({ role }) => role === "system")?.content);
  const parts = Object.fromEntries(PARTS.map((part) => [part, 0])) as Parts;
  let part: (typeof PARTS)[number] = "role";
  for (const line of system.split(/(?<=\n)/)) {
    part = HEADINGS[line.trim()] ?? part;
    parts[part] += Buffer.byteLength(JSON.stringify(line)) - 2;
  }
  // An agent that plans before it may call anything is told of its tools in a message.
  const told = messages.map(
    ({ content }) =>
      /^Tools you can plan with:\n[\s\S]*?(?=^Answer with)/m.exec(readText(content))?.[0] ?? "",
  );
  parts.tools =
    tools.length > 0
      ? Buffer.byteLength(JSON.stringify(tools))
      : Buffer.byteLength(JSON.stringify(told.join(""))) - 2;
  parts.total = Buffer.byteLength(body);
  parts.rest = parts.total - PARTS.slice(0, -2).reduce((sum, name) => sum + parts[name], 0);
  return parts;
}

function print(rows: readonly (readonly (string | number)[])[]): void {
  const [head = [], ...body] = rows.map((row) =>
    row.map((cell) => (typeof cell === "number" ? cell.toLocaleString("en-US") : cell)),
  );
  for (const row of [head, head.map((_, at) => (at === 0 ? "---" : "--:")), ...body])
    console.log(`| ${row.join(" | ")} |`);
  console.log();
}

const model = await startScriptedModel(log);
const measured: Measured[] = [];
const first: Record<string, Parts> = {};
try {
  for (const task of TASKS) measured.push(await measure(task, model));
  for (const task of [HELLO, KINDS]) {
    const { ended } = await measure(task, model);
    if (ended !== "well") throw new Error(`${task.name}: ${ended}`);
    for (const [agent, asked] of Object.entries(FIRST_TASKS)) {
      const body = model.first.get(asked);
      if (body !== undefined) first[agent] = takeApart(body);
    }
  }
} finally {
  await model.close();
}

const sum = (key: keyof Cost) => measured.reduce((total, one) => total + one[key], 0);
const COLUMNS = ["requests", "bytesIn", "bytesOut", "rejected", "wasted"] as const;
print([
  ["task", "requests", "bytes in", "bytes out", "rejected calls", "wasted turns", "ended"],
  ...measured.map((one) => [one.task, ...COLUMNS.map((key) => one[key]), one.ended]),
  ["all", ...COLUMNS.map(sum), measured.every(({ ended }) => ended === "well") ? "well" : "not all well"],
]);
print([
  ["first request of", ...PARTS],
  ...Object.entries(first).map(([agent, parts]) => [agent, ...PARTS.map((part) => parts[part])]),
]);
for (const { task, refusals } of measured)
  for (const refusal of refusals) console.log(`${task}: ${refusal.slice(0, 300)}`);
const hello = first.main?.total ?? 0;
console.log(
  `hello: ${hello} bytes, goal ${HELLO_GOAL}: ${hello <= HELLO_GOAL ? "ok" : `MISSED by ${hello - HELLO_GOAL}`}`,
);
if (values.json) writeFileSync(values.json, `${JSON.stringify({ tasks: measured, first }, null, 2)}\n`);
