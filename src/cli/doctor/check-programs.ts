import { execFile } from "node:child_process";
import { findGit, safePath } from "../../packs/code/git/exec-git.ts";
import { findBubblewrap } from "../../packs/code/sandbox/find-bubblewrap.ts";
import { messageOf } from "../../schema/error.ts";
import type { ShellSettings } from "../../schema/settings.ts";
import { type Finding, ok, problem, warning } from "./check.ts";

const NODE = 24;
const INSTALL_BWRAP = "sudo apt install bubblewrap   # or your system's package of that name";

/** Whether this Node can run Retinue. */
export function checkNode(version: string): Finding {
  const facts = { version, needed: NODE };
  if (Number(/^v?(\d+)/.exec(version)?.[1]) >= NODE)
    return ok(`Node ${version.replace(/^v/, "")}`, { facts });
  return problem(`Node ${version} is too old: ${NODE} is needed`, "nvm install 24   # or nodejs.org", {
    facts,
  });
}

/** Whether commands can be confined, tried for real, and what happens to them if not. */
export async function checkSandbox({ sandbox }: Pick<ShellSettings, "sandbox">): Promise<Finding> {
  if (sandbox === "off")
    return warning(
      "commands run on this machine with all your rights (shell.sandbox is off)",
      "retinue config set shell.sandbox auto",
    );
  const found = await findBubblewrap();
  if (!("fault" in found)) {
    const facts = { program: found.program, sealed: found.sealed, pins: found.pins };
    const limits = found.sealed ? "" : "; namespaces can be made inside";
    return ok(`bubblewrap works (${found.program})${limits}`, { facts });
  }
  const remedy = process.platform === "linux" ? INSTALL_BWRAP : "run Retinue on Linux, or in a container";
  if (sandbox === "required")
    return problem(`${found.fault}; no command can run (shell.sandbox is required)`, remedy);
  return warning(`${found.fault}; commands run in a built-in shell that knows no programs`, remedy);
}

/** Whether git is there; isolated workspaces, diff and undo use it. */
export async function checkGit(projectDir: string, path: string, signal: AbortSignal): Promise<Finding> {
  const program = await findGit(safePath(projectDir, path)).catch(() => undefined);
  const version = program && (await versionOf(program, signal));
  if (version) return ok(version.replace("version ", ""), { facts: { program } });
  return warning("git is not there: no git tools, no isolated copies, no undo", "sudo apt install git");
}

/** Whether the searcher that comes with Retinue can be run. */
export async function checkRipgrep(signal: AbortSignal): Promise<Finding> {
  const remedy = "npm install -g retinue   # it brings ripgrep along";
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    const version = await versionOf(rgPath, signal);
    if (version) return ok(version.split(" (")[0] ?? version, { facts: { program: rgPath } });
    return problem("ripgrep cannot be run, so grep and glob cannot either", remedy);
  } catch (thrown) {
    return problem(`ripgrep is missing, so grep and glob cannot run: ${messageOf(thrown)}`, remedy);
  }
}

function versionOf(program: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: {}, timeout: 4_000, killSignal: "SIGKILL", signal } as const;
    execFile(program, ["--version"], options, (error, stdout) =>
      resolve(error ? undefined : stdout.split("\n")[0]?.trim()),
    );
  });
}
