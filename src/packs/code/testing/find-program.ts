import { access, realpath } from "node:fs/promises";
import { join } from "node:path";
import { isBelow } from "../../../files/is-below.ts";
import { readProjectFile } from "./detect-runner.ts";
import type { TestRequest } from "./test-command.ts";
import { asObject, parseObject } from "./test-report.ts";

/** The tests cannot be started; the message says what is missing. */
export class NoRunner extends Error {
  override readonly name = "NoRunner";
}

/**
 * A package's program, run with this Node: what the shell would find as its name may be anything. It is looked for in the
 * tested folder and in those around it, up to the project's.
 */
export async function findProgram(request: TestRequest, name: string): Promise<string[]> {
  const root = await realpath(request.projectDir);
  for (let folder = request.folder ?? ""; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/")))) {
    const found = await programIn(root, join(folder, "node_modules", name), name);
    if (found) return found;
    if (folder === "") break;
  }
  throw new NoRunner(
    `${name} is not installed: there is no node_modules/${name} in the project; install its dependencies first`,
  );
}

async function programIn(root: string, folder: string, name: string): Promise<string[] | undefined> {
  // Package managers link packages to where they keep them.
  const real = await realpath(join(root, folder)).catch(() => undefined);
  if (real === undefined) return undefined;
  if (!isBelow(real, root))
    throw new NoRunner(`${folder} leads out of the project, where the sandbox does not let it be seen`);
  const manifest = parseObject((await readProjectFile(root, join(real, "package.json"))) ?? "");
  const { bin } = manifest ?? {};
  const path = typeof bin === "string" ? bin : asObject(bin)[name];
  return typeof path === "string" ? [process.execPath, join(real, path)] : undefined;
}

/** The Python of the project, or the one that is on the PATH. */
export async function findPython(projectDir: string): Promise<string> {
  for (const folder of [".venv", "venv"]) {
    const path = join(projectDir, folder, "bin/python");
    const found = await access(path).then(
      () => true,
      () => false,
    );
    if (found) return path;
  }
  return "python3";
}
