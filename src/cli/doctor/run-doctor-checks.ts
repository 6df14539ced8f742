import { createTransport } from "../../net/transport.ts";
import { type CommonOptions, openProject } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";
import type { Check } from "./check.ts";
import { checkAccounts, checkKeyring } from "./check-accounts.ts";
import { checkDefaultModel, checkKeys, checkOllama, checkProviders } from "./check-models.ts";
import { checkDatabase, checkFolders } from "./check-places.ts";
import { checkGit, checkNode, checkRipgrep, checkSandbox } from "./check-programs.ts";
import { checkAgents, checkSettingsFiles } from "./check-project.ts";
import { checkTerminal } from "./check-terminal.ts";
import { type Checked, runChecks } from "./run-checks.ts";

/** What is to be looked at. */
export type DoctorScope = CommonOptions & { offline?: boolean };

/** Who is told how the checks go on. */
export type DoctorWatch = {
  /** Before the first one begins. */
  begins?(checks: readonly Check[]): void;
  /** One after the other, in the order of the list. */
  checked?(checked: Checked): void;
};

/** Looks at everything that a run needs, in the project as it is on disk now. */
export async function runDoctorChecks(
  scope: DoctorScope,
  terminal: Terminal,
  watch: DoctorWatch = {},
): Promise<Checked[]> {
  const transport = createTransport({ proxyEnv: terminal.env });
  try {
    const checks = await checksFor(scope, terminal, transport);
    watch.begins?.(checks);
    return await runChecks(checks, (checked) => watch.checked?.(checked));
  } finally {
    transport.close();
  }
}

async function checksFor(
  scope: DoctorScope,
  terminal: Terminal,
  transport: ReturnType<typeof createTransport>,
): Promise<Check[]> {
  const project = await openProject(scope, terminal);
  const { settings, places, projectDir } = project;
  const { env } = terminal;
  const models = { settings, env, transport, offline: scope.offline === true };
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
