import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { untilAborted } from "../budget/until-aborted.ts";
import { openRepository, runGit } from "../git/run-git.ts";
import type { GitState } from "../run/ports.ts";

/** A large repository may take long; the prompt does not wait for it. */
const PATIENCE_MS = 500;

/** Asks git where the project stands, for the prompts of a session. */
export async function readGitState(projectDir: string): Promise<GitState | null> {
  if (!isInRepository(projectDir)) return null;
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    // Nothing that its configuration names is run.
    const repository = await untilAborted(openRepository(projectDir, { signal }), signal);
    const args = ["status", "--porcelain=v1", "--branch", "--no-renames", "--ignore-submodules=all"];
    const { stdout } = await untilAborted(runGit(repository, args, { signal }), signal);
    return describeStatus(stdout);
  } catch {
    return null;
  }
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (dirname(at) === at) return false;
  }
}

function describeStatus(output: string): GitState {
  const [head = "", ...files] = output.split("\n").filter((line) => line !== "");
  const named = head.replace(/^## (?:No commits yet on )?/, "").split("...")[0] ?? "";
  const branch = named.startsWith("HEAD (no branch)") ? "no branch" : `branch ${named}`;
  const untracked = files.filter((line) => line.startsWith("??")).length;
  const changed = files.length - untracked;
  const parts = [
    ...(changed > 0 ? [`${changed} changed ${changed === 1 ? "file" : "files"}`] : []),
    ...(untracked > 0 ? [`${untracked} untracked`] : []),
  ];
  return { branch, state: parts.join(", ") || "clean" };
}

/** The person's name as git knows it: the repository's own setting, then the person's. */
export function findPerson(projectDir: string, homeDir: string): string | null {
  const places = [
    join(projectDir, ".git", "config"),
    join(homeDir, ".gitconfig"),
    join(homeDir, ".config", "git", "config"),
  ];
  for (const file of places) {
    const name = /^\s*\[user\][^[]*?^\s*name\s*=\s*"?([^"\n]+)/m.exec(readSmall(file))?.[1]?.trim();
    // Somebody else may have written a repository's configuration: what is longer than a name is none.
    if (name && name.length <= 40 && name.split(/\s+/).length <= 5) return name;
  }
  return null;
}

function readSmall(file: string): string {
  try {
    return statSync(file).size < 100_000 ? readFileSync(file, "utf8") : "";
  } catch {
    return "";
  }
}
