import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "../files/replace-file.ts";
import { runShadowGit } from "./git.ts";
import type { ProjectRepository } from "./repository.ts";

const CONFIG = `[core]
\trepositoryformatversion = 0
\tbare = true
\tautocrlf = false
\tsafecrlf = false
\tsymlinks = true
\tfilemode = true
\tignorecase = false
\tprecomposeunicode = false
\tprotectHFS = false
\tprotectNTFS = false
\tlooseCompression = 1
`;
/** Every file as the bytes it has, whatever the project's own attributes say. */
const ATTRIBUTES = "* -text -crlf -ident -filter !eol !working-tree-encoding\n";

/** Gives a shadow configuration that is ours alone, and the contents that the project's repository has already. */
export async function configureShadow(about: {
  gitDir: string;
  repository: ProjectRepository | null;
  isSha256: boolean;
  ownData: string | null;
}): Promise<void> {
  const { gitDir, repository, isSha256, ownData } = about;
  const config = isSha256
    ? `${CONFIG.replace("version = 0", "version = 1")}[extensions]\n\tobjectformat = sha256\n`
    : CONFIG;
  const objects =
    repository && !/[\n"#]/.test(repository.commonDir) ? join(repository.commonDir, "objects") : "";
  await mkdir(join(gitDir, "info"), { recursive: true });
  await mkdir(join(gitDir, "objects", "info"), { recursive: true });
  await Promise.all([
    keepText(join(gitDir, "config"), config),
    keepText(join(gitDir, "info", "attributes"), ATTRIBUTES),
    keepText(join(gitDir, "info", "exclude"), ownData === null ? "" : `/${ownData}/\n`),
    keepText(join(gitDir, "objects", "info", "alternates"), objects === "" ? "" : `${objects}\n`),
  ]);
}

/** Another run's git may read the file at this moment: it finds the old or the new text, never a part. */
async function keepText(path: string, text: string): Promise<void> {
  if ((await readFile(path, "utf8").catch(() => null)) === text) return;
  await replaceFile(path, text, 0o600);
}

/** Makes the repository of a shadow. Whoever comes first has made it, whole: several runs and processes may open one shadow at the same moment. */
export async function makeRepository(gitDir: string, format: string): Promise<void> {
  const made = `${gitDir}.${randomBytes(4).toString("hex")}`;
  await mkdir(made, { recursive: true, mode: 0o700 });
  try {
    await runShadowGit(["init", "-q", "--bare", "--template=", `--object-format=${format}`, made], {
      cwd: made,
    });
    await rename(made, gitDir);
  } catch (thrown) {
    await rm(made, { recursive: true, force: true });
    if (!existsSync(join(gitDir, "HEAD"))) throw thrown;
  }
}
