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
import { type Cli, type CommonOptions, printResult, type Terminal } from "../terminal.ts";
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

type DoctorOptions = CommonOptions & { offline?: boolean };

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
  const slow = tellSlowness(cli);
  const done = await runDoctorChecks(cli, {
    begins: slow.begin,
    checked(checked) {
      slow.done(checked.name);
      if (!cli.options.json) showFindings(checked, cli);
    },
  }).finally(slow.stop);
  const findings = done.flatMap((each) => each.findings);
  const count = (verdict: CheckVerdict) => findings.filter((each) => each.verdict === verdict).length;
  const problems = count("problem");
  const warnings = count("warning");
  printResult(cli, {
    value: asJson(done, problems, warnings),
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

function asJson(done: readonly Checked[], problems: number, warnings: number): object {
  const flat = done.flatMap(({ name, findings }) =>
    findings.map((finding: Finding) => ({ check: name, ...finding })),
  );
  return { ok: problems === 0, problems, warnings, checks: flat };
}

/** Tells a waiting person what is still being checked. */
function tellSlowness(terminal: Terminal): {
  begin(checks: readonly DoctorCheck[]): void;
  done(name: string): void;
  stop(): void;
} {
  const open = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  return {
    begin(checks) {
      for (const { name } of checks) open.add(name);
      timer = setInterval(() => terminal.tell(`still checking: ${[...open].join(", ")}`), SLOW_MS);
    },
    done: (name) => void open.delete(name),
    stop: () => clearInterval(timer),
  };
}

/** A check that was given up may still run in the background; the program does not wait for it. */
function leaveSoon(): void {
  setTimeout(() => process.exit(process.exitCode), LEAVE_MS).unref();
}

/** Who is told about the progress of the checks. */
type DoctorWatch = {
  /** Before the first one begins. */
  begins?(checks: readonly DoctorCheck[]): void;
  /** One after the other, in the order of the list. */
  checked?(checked: Checked): void;
};

/** Checks everything that a run needs, in the project as it is on disk now. */
async function runDoctorChecks(cli: Cli<DoctorOptions>, watch: DoctorWatch = {}): Promise<Checked[]> {
  const transport = createTransport({ proxyEnv: cli.env });
  try {
    const checks = await listChecks(cli, transport);
    watch.begins?.(checks);
    return await runChecks(checks, (checked) => watch.checked?.(checked));
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
  const done = await runDoctorChecks(cli);
  return done
    .filter(({ name }) => name !== "terminal")
    .flatMap(({ name, findings }) =>
      findings.map(({ verdict, summary, details, remedy }) => ({
        check: name,
        verdict,
        summary,
        ...(details && { details }),
        ...(remedy && { remedy }),
      })),
    );
}
