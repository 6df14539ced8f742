import { createTransport } from "../../net/transport.ts";
import { EXIT } from "../exit-code.ts";
import { countOf } from "../measures.ts";
import { type CommonOptions, openProject } from "../open-project.ts";
import { plainJson, plainLine, plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { wrapWords } from "../wrap-words.ts";
import type { Check, Finding, Verdict } from "./check.ts";
import { checkAccounts, checkKeyring } from "./check-accounts.ts";
import { checkDefaultModel, checkKeys, checkOllama, checkProviders } from "./check-models.ts";
import { checkDatabase, checkFolders } from "./check-places.ts";
import { checkGit, checkNode, checkRipgrep, checkSandbox } from "./check-programs.ts";
import { checkAgents, checkSettingsFiles } from "./check-project.ts";
import { checkTerminal } from "./check-terminal.ts";
import { type Checked, runChecks } from "./run-checks.ts";

/** Options of `retinue doctor`. */
export type DoctorOptions = CommonOptions & { offline?: boolean };

const SIGNS: Readonly<Record<Verdict, string>> = {
  ok: "✅ ok     ",
  warning: "⚠️  warning",
  problem: "❌ problem",
  skipped: "·  skipped",
};
/** Whoever still works after that is left behind. */
const LEAVE_MS = 300;
const SLOW_MS = 1_500;
/** Where the words begin, behind icon and verdict. */
const INDENT = 12;

/** `retinue doctor`: looks at everything that a run needs; 1 if something of it does not work. */
export async function doctor(options: DoctorOptions, terminal: Terminal): Promise<number> {
  const transport = createTransport({ proxyEnv: terminal.env });
  const checks = await checksFor(options, terminal, transport);
  const slow = tellSlowness(checks, terminal);
  const done = await runChecks(checks, (checked) => {
    slow.done(checked.name);
    if (!options.json) show(checked, terminal);
  });
  slow.stop();
  transport.close();
  if (done.some(({ timedOut }) => timedOut)) leaveSoon();
  const findings = done.flatMap((each) => each.findings);
  const count = (verdict: Verdict) => findings.filter((each) => each.verdict === verdict).length;
  const problems = count("problem");
  if (options.json) terminal.print(plainJson(asJson(done, problems, count("warning")), 2));
  else terminal.print(`\n${conclusion(problems, count("warning"))}`);
  return problems > 0 ? EXIT.failed : EXIT.ok;
}

async function checksFor(
  options: DoctorOptions,
  terminal: Terminal,
  transport: ReturnType<typeof createTransport>,
): Promise<Check[]> {
  const project = await openProject(options, terminal);
  const { settings, places, projectDir } = project;
  const { env } = terminal;
  const models = { settings, env, transport, offline: options.offline === true };
  return [
    { name: "node", run: () => checkNode(process.versions.node) },
    { name: "sandbox", patienceMs: 25_000, run: () => checkSandbox(settings.shell) },
    { name: "git", run: (signal) => checkGit(projectDir, env.PATH ?? "", signal) },
    { name: "ripgrep", run: checkRipgrep },
    { name: "keys", run: () => checkKeys(models) },
    { name: "providers", run: (signal) => checkProviders(models, signal) },
    { name: "ollama", run: (signal) => checkOllama(models, signal) },
    { name: "model", run: () => checkDefaultModel(models) },
    { name: "database", run: () => checkDatabase(places) },
    { name: "folders", run: () => checkFolders(places) },
    { name: "settings", run: () => checkSettingsFiles(project) },
    { name: "agents", run: () => checkAgents(project) },
    { name: "accounts", run: () => checkAccounts(env, settings) },
    { name: "keyring", patienceMs: 4_000, run: () => checkKeyring(env) },
    { name: "terminal", run: () => checkTerminal(terminal) },
  ];
}

function show({ findings }: Checked, terminal: Terminal): void {
  const say = (line: string, indent: number) => terminal.print(wrapWords(line, terminal, indent));
  for (const { verdict, summary, details = [], remedy } of findings) {
    say(`${SIGNS[verdict]}  ${plainLine(summary, 400)}`, INDENT);
    for (const detail of details) say(`${" ".repeat(INDENT)}${plainLine(detail, 300)}`, INDENT + 2);
    if (remedy) say(`${" ".repeat(INDENT)}→ ${plainText(remedy)}`, INDENT + 2);
  }
}

function conclusion(problems: number, warnings: number): string {
  const and = warnings > 0 ? `${problems > 0 ? " and " : ""}${countOf(warnings, "warning")}` : "";
  if (problems > 0) return `${countOf(problems, "problem")}${and}: follow the arrows above`;
  return warnings > 0 ? `no problems, ${and}; try: retinue demo` : "all is well; try: retinue demo";
}

function asJson(done: readonly Checked[], problems: number, warnings: number): object {
  const flat = done.flatMap(({ name, findings }) =>
    findings.map((finding: Finding) => ({ check: name, ...finding })),
  );
  return { ok: problems === 0, problems, warnings, checks: flat };
}

/** Tells a person who waits what is still being looked at. */
function tellSlowness(
  checks: readonly Check[],
  terminal: Terminal,
): { done(name: string): void; stop(): void } {
  const open = new Set(checks.map(({ name }) => name));
  const timer = setInterval(() => terminal.tell(`still checking: ${[...open].join(", ")}`), SLOW_MS);
  return { done: (name) => void open.delete(name), stop: () => clearInterval(timer) };
}

/** A check that was given up may go on in the background; the program does not wait for it. */
function leaveSoon(): void {
  setTimeout(() => process.exit(process.exitCode), LEAVE_MS).unref();
}
