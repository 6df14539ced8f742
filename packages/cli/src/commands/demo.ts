import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { BUILTIN_DIR } from "@retinue/builtin/built-in-agents";
import { builtInTools, paceTools } from "@retinue/builtin/built-in-tools";
import { findBubblewrap } from "@retinue/code/sandbox/find-bubblewrap";
import { loadAgents } from "@retinue/core/agents/load-agents";
import type { Runtime } from "@retinue/core/runtime/create-runtime";
import type { Procedure } from "@retinue/offline/conversation";
import { main } from "@retinue/offline/main";
import type { CliCommand } from "../cli-command.ts";
import { type OpenProject, openSoundProject } from "../open-project.ts";
import { type Cli, changeOptions } from "../terminal.ts";
import { drawTable, wrapWords } from "../text-layout.ts";
import { chooseFormat, type RunOptions } from "../work/run-options.ts";
import { watchTask } from "../work/run-task.ts";

/** Declares `retinue demo`. */
export default function registerDemo(command: CliCommand): void {
  command
    .description("watch agents delegate in a small example project; needs no key and no network")
    .shares("outputFormat")
    .examples("retinue demo", "retinue demo --output-format stream-json")
    .performs(runDemo);
}

type DemoOptions = Pick<RunOptions, "outputFormat">;

const TASK =
  "Find where the discount of a cart is worked out and summarise it. Find where receipts are printed and summarise it. Ask quality-lead to check src/cart.js.";

/** `retinue demo`: a small tree of real agents at work on an example project, without a key and without a network. */
async function runDemo(cli: Cli<DemoOptions>): Promise<number> {
  using example = makeDemoProject();
  const project = await openDemo(example.dir, cli);
  const canTest = !("fault" in (await findBubblewrap()));
  const run = changeOptions(cli, { allowedTools: [], disallowedTools: [] });
  const isText = chooseFormat(run.options) === "text";
  const say = isText ? (line: string) => cli.tell(wrapWords(line, cli)) : () => {};
  const answer: string[] = [];
  const seen = isText ? { ...run, print: (text: string) => void answer.push(text) } : run;
  let sessionId = "last";
  const begin = async (runtime: Runtime) => {
    const handle = await runtime.start({ agent: "main", task: TASK, model: "offline" });
    sessionId = handle.sessionId;
    return handle;
  };
  introduction(canTest, cli.screen !== undefined).forEach(say);
  const tools = isText && cli.screen ? { tools: paceTools(builtInTools) } : {};
  const code = await watchTask(project, seen, begin, { procedures: [leadBy(canTest)], ...tools });
  for (const line of digestAnswer(answer.join("\n\n"))) cli.print(wrapWords(line, cli, 2));
  conclusion(sessionId, canTest).forEach(say);
  return code;
}

/** The user's settings with the built-in agents and the example's, so that nobody's own agents change what is shown. */
async function openDemo(dir: string, cli: Cli): Promise<OpenProject> {
  const project = await openSoundProject(changeOptions(cli, { cwd: dir }));
  const registry = await loadAgents({ projectDir: dir, builtinDir: BUILTIN_DIR, known: project.known });
  return { ...project, registry };
}

/** How the example's own agent works by rules: it does what its prompt says, in the way the main agent splits a request. */
function leadBy(canTest: boolean): Procedure {
  return {
    agents: ["quality-lead"],
    next: (situation) => {
      const [file = "src/cart.js"] = /\bsrc\/[\w.-]+\.js\b/.exec(situation.task) ?? [];
      return main.next({ ...situation, task: `- Review ${file}${canTest ? "\n- Run the tests" : ""}` });
    },
  };
}

function introduction(canTest: boolean, isWatched: boolean): string[] {
  return [
    "A request with three parts, in an example project that is gone afterwards:",
    `“${TASK}”`,
    ...(canTest ? [] : ["(Without a sandbox the example's tests are not run; see: retinue doctor)"]),
    ...(isWatched ? ["(Every tool call waits a moment, so that you can watch.)"] : []),
    "",
  ];
}

function conclusion(sessionId: string, canTest: boolean): string[] {
  const others = canTest ? "a reviewer and a tester, two agents of its own" : "a reviewer of its own";
  return [
    "",
    `What happened: main split the request and handed its parts to three agents at once. Two researchers searched and read real files; quality-lead delegated further, to ${others}. No model was called, nothing was changed, and every step is on record.`,
    "",
    "next:",
    ...drawTable([
      [`  retinue trace ${sessionId}`, "the tree, with times"],
      ["  retinue init", "set up a project of your own"],
      ['  retinue "…"', "a task of your own"],
    ]),
  ];
}

const TITLE = /^\d+\. “.*” \([\w-]+\)$/;

/** Of an answer in numbered parts, nested ones too: what each part was, who did it, and its first paragraph; else all of it. */
function digestAnswer(text: string): string[] {
  const paragraphs = text.split(/\n{2,}/).map((each) => each.trim());
  const digest = paragraphs.flatMap((paragraph, index) => {
    if (!TITLE.test(paragraph)) return [];
    const next = paragraphs[index + 1] ?? "";
    const [first = ""] = TITLE.test(next) ? [""] : next.split("\n");
    return [paragraph.replace(/^\d+\./, "•"), ...(first ? [`  ${first}`] : [])];
  });
  return digest.length > 0 ? digest : text.split("\n");
}

/** The example in a temporary folder of its own. */
export function makeDemoProject(): { dir: string; [Symbol.dispose](): void } {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "retinue-demo-")));
  const example = readFileSync(new URL("./prompts/demo-project.md", import.meta.url), "utf8");
  for (const [, path = "", text = ""] of example.matchAll(/^## (\S+)\n\n~~~\w+\n(.*?)^~~~$/gms)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return { dir, [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}
