import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Isolation } from "../changes/isolate.ts";
import { findUnmet } from "../delegate/unmet-deliverables.ts";
import { fileFault } from "../files/file-fault.ts";
import { openForReading, writeInside } from "../files/open-inside.ts";
import { pathTarget } from "../files/resolve-path.ts";
import { versionOf } from "../files/seen-files.ts";
import { decide } from "../rights/decide.ts";
import { missingBefore, takeBaseline } from "../run/deliverables.ts";
import type { HandedFile } from "../run/ports.ts";
import type { Run, SpawnRequest, Workplace } from "../run/run.ts";
import { RetinueError } from "../schema/error.ts";
import type { Layer } from "../schema/rights.ts";
import { excerpt } from "../tools/truncate.ts";

/** What a workplace is made with. */
type WorkplaceParts = Pick<Isolation, "enter" | "leave" | "createMergeTool">;

const MAX_FILE_CHARS = 20_000;
const MAX_FILE_BYTES = 5_000_000;

/** The folders of this machine, as runs work in them. */
export function createWorkplace(isolation: WorkplaceParts): Workplace {
  return {
    ...isolation,
    findFolder,
    takeBaseline,
    missingBefore,
    findUnmet,
    async enter(request) {
      return { projectDir: await isolation.enter(request), workspaceDir: await enterWorkspace(request) };
    },
    async saveArtefact({ workspaceDir, runId }, name, text) {
      const path = artefactPath(workspaceDir, runId, name);
      await mkdir(workspaceDir, { recursive: true, mode: 0o700 });
      await writeInside(workspaceDir, path, text);
      return path;
    },
    async readHanded(run, chains, name) {
      try {
        return await readHandedFile(run, chains, name);
      } catch (thrown) {
        throw new RetinueError("input", `cannot hand over ${fileFault(thrown, name)}`);
      }
    },
  };
}

/** Where a long text of a run is kept. */
export function artefactPath(workspaceDir: string, runId: string, name: string): string {
  return join(workspaceDir, "artefacts", `${runId}-${name.replaceAll(/[^\w.-]/g, "_")}`);
}

/** The workspace of a run: its parent's, or a folder of its own. */
export function workspaceFor({ session, profile, runId, parent }: SpawnRequest): string {
  const shared = parent?.workspaceDir ?? session.workspaceDir;
  return profile.agent.workspace === "shared" ? shared : join(`${session.workspaceDir}-runs`, runId);
}

async function enterWorkspace(request: SpawnRequest): Promise<string> {
  const folder = workspaceFor(request);
  if (request.profile.agent.workspace !== "shared") await mkdir(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The folder of the project that a child is to work in, relative to it. */
async function findFolder(run: Run, cwd: string): Promise<string> {
  const target = await pathTarget(cwd, "read", run);
  const isFolder =
    target.kind === "path" &&
    target.root === "project" &&
    (await stat(target.path).then(
      (found) => found.isDirectory(),
      () => false,
    ));
  if (isFolder && target.kind === "path") return target.relative;
  throw new RetinueError("input", `cwd must be a folder of the project, not ${JSON.stringify(cwd)}`);
}

/** Reads a file that is handed over; what it throws says only why it cannot. */
export async function readHandedFile(
  run: Run,
  chains: readonly (readonly Layer[])[],
  name: string,
): Promise<HandedFile> {
  const target = await pathTarget(name, "read", run);
  if (target.kind !== "path" || target.root === "outside")
    throw new Error("it is outside the project and the workspace");
  const may = (chain: readonly Layer[]) =>
    decide(chain, { tool: "read", groups: ["filesystem"], targets: [target] }).verdict === "allow";
  if (!chains.some(may)) throw new Error("neither you nor the sub-agent may read it");
  const root = target.root === "project" ? run.projectDir : run.workspaceDir;
  const handle = await openForReading(root, target.path);
  try {
    const { size } = await handle.stat();
    if (size > MAX_FILE_BYTES) throw new Error(`it has ${size} bytes, which is too much to hand over`);
    const bytes = await handle.readFile();
    if (bytes.includes(0)) throw new Error("it is a binary file");
    const whole = bytes.toString("utf8");
    const text = excerpt(whole, MAX_FILE_CHARS, `the rest is in ${name}`);
    return { name, path: target.path, text, ...(text === whole && { version: versionOf(bytes) }) };
  } finally {
    await handle.close();
  }
}
