import { execGit } from "./exec-git.ts";
import { type Repository, runGit } from "./run-git.ts";

const DEFAULT_NAME = "Retinue";
const DEFAULT_EMAIL = "retinue@localhost";

/** Who commits: as the repository says, else as the person's own configuration says, else Retinue. */
export async function identityOf(
  repository: Repository,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const name = await configured(repository, "user.name", signal);
  const email = await configured(repository, "user.email", signal);
  const who = { NAME: name ?? DEFAULT_NAME, EMAIL: email ?? DEFAULT_EMAIL };
  return Object.fromEntries(
    ["AUTHOR", "COMMITTER"].flatMap((role) =>
      Object.entries(who).map(([key, value]) => [`GIT_${role}_${key}`, value]),
    ),
  );
}

async function configured(
  repository: Repository,
  key: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const own = await runGit(repository, ["config", "--includes", "--get", key], { signal, accept: [0, 1] });
  return usable(own.stdout) ?? usable(await personal(repository, key, signal));
}

/** Reading a value runs no program, so here the person's own files count. */
async function personal({ program, env }: Repository, key: string, signal: AbortSignal): Promise<string> {
  const { HOME, XDG_CONFIG_HOME } = process.env;
  if (!HOME) return "";
  const { stdout } = await execGit({
    program,
    args: ["config", "--global", "--includes", "--get", key],
    cwd: "/",
    env: { PATH: env.PATH ?? "", LC_ALL: "C", HOME, ...(XDG_CONFIG_HOME && { XDG_CONFIG_HOME }) },
    signal,
  });
  return stdout;
}

/** Git drops these characters from names and then complains that nothing is left. */
function usable(text: string): string | undefined {
  const clean = text.replace(/[\p{Cc}<>]/gu, "").trim();
  return /[\p{L}\p{N}]/u.test(clean) ? clean : undefined;
}
