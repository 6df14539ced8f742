import { join } from "node:path";
import { loadAgents } from "../../agents/load-agents.ts";
import { PACKAGE_ROOT } from "../../files/package-root.ts";
import type { Procedure } from "../../models/offline/procedure.ts";
import { main } from "../../packs/code/offline/main.ts";
import { findBubblewrap } from "../../packs/code/sandbox/find-bubblewrap.ts";
import { builtInTools } from "../../runtime/project/built-in-tools.ts";
import { pacedTools } from "../../runtime/project/paced-tools.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { type CommonOptions, type OpenProject, openSoundProject } from "../open-project.ts";
import { table } from "../plain-text.ts";
import { formatOf, type RunOptions } from "../run/run-options.ts";
import { conduct } from "../run/run-task.ts";
import type { Terminal } from "../terminal.ts";
import { wrapWords } from "../wrap-words.ts";
import { makeDemoProject } from "./demo-project.ts";
import { digestAnswer } from "./digest.ts";

/** Options of `retinue demo`. */
export type DemoOptions = CommonOptions & Pick<RunOptions, "outputFormat">;

const TASK =
  "Find where the discount of a cart is worked out and summarise it. Find where receipts are printed and summarise it. Ask quality-lead to check src/cart.js.";

/** `retinue demo`: a small tree of real agents at work on an example project, without a key and without a network. */
export async function demo(options: DemoOptions, terminal: Terminal): Promise<number> {
  using example = makeDemoProject();
  const project = await openDemo(example.dir, terminal);
  const canTest = !("fault" in (await findBubblewrap()));
  const run: RunOptions = { ...options, allowedTools: [], disallowedTools: [] };
  const isText = formatOf(run) === "text";
  const say = isText ? (line: string) => terminal.tell(wrapWords(line, terminal)) : () => {};
  const answer: string[] = [];
  const seen: Terminal = isText ? { ...terminal, print: (text) => void answer.push(text) } : terminal;
  let sessionId = "last";
  const begin = async (runtime: Runtime) => {
    const handle = await runtime.start({ agent: "main", task: TASK, model: "offline" });
    sessionId = handle.sessionId;
    return handle;
  };
  introduction(canTest, terminal.screen !== undefined).forEach(say);
  const tools = isText && terminal.screen ? { tools: pacedTools(builtInTools) } : {};
  const code = await conduct(project, run, seen, begin, { procedures: [leadBy(canTest)], ...tools });
  for (const line of digestAnswer(answer.join("\n\n"))) terminal.print(wrapWords(line, terminal, 2));
  conclusion(sessionId, canTest).forEach(say);
  return code;
}

/** The user's settings with the built-in agents and the example's, so that nobody's own agents change what is shown. */
async function openDemo(dir: string, terminal: Terminal): Promise<OpenProject> {
  const project = await openSoundProject({ cwd: dir }, terminal);
  const builtinDir = join(PACKAGE_ROOT, "agents");
  const registry = await loadAgents({ projectDir: dir, builtinDir, known: project.known });
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
    ...table([
      [`  retinue trace ${sessionId}`, "the tree, with times"],
      ["  retinue init", "set up a project of your own"],
      ['  retinue "…"', "a task of your own"],
    ]),
  ];
}
