import { createTransport } from "@retinue/core/net/transport";
import type { HealthView } from "@retinue/core/schema/api/inspect";
import { showCount } from "@retinue/core/show/measures";
import { cutToLine, stripControls } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import {
  checkDatabase,
  checkFolders,
  checkGit,
  checkNode,
  checkRipgrep,
  checkSandbox,
  checkTerminal,
} from "../doctor/check-machine.ts";
import { checkDefaultModel, checkKeys, checkOllama, checkProviders } from "../doctor/check-models.ts";
import { checkAccounts, checkAgentFiles, checkKeyring, checkSettingsFiles } from "../doctor/check-project.ts";
import {
  type Checked,
  type CheckVerdict,
  type DoctorCheck,
  type Finding,
  runChecks,
} from "../doctor/run-checks.ts";
import { EXIT } from "../exit-code.ts";
import { openProject } from "../open-project.ts";
import { type Cli, printResult, type Terminal } from "../terminal.ts";
import { wrapWords } from "../text-layout.ts";

/** Declares `retinue doctor`. */
export default function registerDoctor(command: CliCommand): void {
  command
    .description(
      "check that everything is in place, and say how to fix what is not; exits with 1 if there are problems",
    )
    .option("--offline", "ask no provider and no server")
    .examples("retinue doctor", "retinue doctor --offline --json")
    .performs(runDoctor);
}

type DoctorOptions = { offline?: boolean };

const SIGNS: Readonly<Record<CheckVerdict, string>> = {
  ok: "✅ ok     ",
  warning: "⚠️  warning",
  problem: "❌ problem",
  skipped: "·  skipped",
};
/** What still runs after that is abandoned. */
const LEAVE_MS = 300;
const SLOW_MS = 1_500;
/** Where the words begin, behind icon and verdict. */
const INDENT = 12;

/** `retinue doctor`: checks everything that a run needs; 1 if something does not work. */
async function runDoctor(cli: Cli<DoctorOptions>): Promise<number> {
  const { exitCode, isLate } = await tellFindings(cli);
  if (isLate) leaveSoon();
  return exitCode;
}

/** Prints what every check found. `isLate` says that a check was given up and may still be at work. */
export async function tellFindings(cli: Cli<DoctorOptions>): Promise<{ exitCode: number; isLate: boolean }> {
  const done = await withChecks(cli, async (checks) => {
    const open = new Set(checks.map(({ name }) => name));
    const slow = setInterval(() => cli.tell(`still checking: ${[...open].join(", ")}`), SLOW_MS);
    const checking = runChecks(checks, (checked) => {
      open.delete(checked.name);
      if (!cli.options.json) showFindings(checked, cli);
    });
    return await checking.finally(() => clearInterval(slow));
  });
  const findings = listFindings(done);
  const count = (verdict: CheckVerdict) => findings.filter((each) => each.verdict === verdict).length;
  const problems = count("problem");
  const warnings = count("warning");
  printResult(cli, {
    value: { ok: problems === 0, problems, warnings, checks: findings },
    text: () => `\n${conclusion(problems, warnings)}`,
  });
  const isLate = done.some(({ timedOut }) => timedOut);
  return { exitCode: problems > 0 ? EXIT.failed : EXIT.ok, isLate };
}

function showFindings({ findings }: Checked, terminal: Terminal): void {
  const say = (line: string, indent: number) => terminal.print(wrapWords(line, terminal, indent));
  for (const { verdict, summary, details = [], remedy } of findings) {
    say(`${SIGNS[verdict]}  ${cutToLine(summary, 400)}`, INDENT);
    for (const detail of details) say(`${" ".repeat(INDENT)}${cutToLine(detail, 300)}`, INDENT + 2);
    if (remedy) say(`${" ".repeat(INDENT)}→ ${stripControls(remedy)}`, INDENT + 2);
  }
}

function conclusion(problems: number, warnings: number): string {
  const and = warnings > 0 ? `${problems > 0 ? " and " : ""}${showCount(warnings, "warning")}` : "";
  if (problems > 0) return `${showCount(problems, "problem")}${and}: follow the arrows above`;
  return warnings > 0 ? `no problems, ${and}; try: retinue demo` : "all is well; try: retinue demo";
}

function listFindings(done: readonly Checked[]): (Finding & { check: string })[] {
  return done.flatMap(({ name, findings }) => findings.map((finding) => ({ check: name, ...finding })));
}

/** A check that was given up may still run in the background; the program does not wait for it. */
function leaveSoon(): void {
  setTimeout(() => process.exit(process.exitCode), LEAVE_MS).unref();
}

/** Hands over the checks of everything that a run needs, in the project as it is on disk now. */
async function withChecks(
  cli: Cli<DoctorOptions>,
  work: (checks: readonly DoctorCheck[]) => Promise<Checked[]>,
): Promise<Checked[]> {
  const transport = createTransport({ proxyEnv: cli.env });
  try {
    return await work(await listChecks(cli, transport));
  } finally {
    transport.close();
  }
}

async function listChecks(
  cli: Cli<DoctorOptions>,
  transport: ReturnType<typeof createTransport>,
): Promise<DoctorCheck[]> {
  const project = await openProject(cli);
  const { settings, places, projectDir } = project;
  const { env } = cli;
  const models = { settings, env, transport, offline: cli.options.offline === true };
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
    { name: "agents", run: () => checkAgentFiles(project) },
    { name: "accounts", run: () => checkAccounts(env, settings) },
    { name: "keyring", patienceMs: 4_000, run: () => checkKeyring(env) },
    { name: "terminal", run: () => checkTerminal(cli) },
  ];
}

/** What `retinue doctor` would find now; without the terminal, which means nothing to a browser. */
export async function checkHealth(cli: Cli): Promise<HealthView["checks"]> {
  const done = await withChecks(cli, (checks) =>
    runChecks(
      checks.filter(({ name }) => name !== "terminal"),
      () => {},
    ),
  );
  return listFindings(done).map(({ facts: _, ...finding }) => finding);
}
