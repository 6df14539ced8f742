import { isAbsolute, join } from "node:path";
import { openForReading, PathRefused } from "@retinue/core/files/open-inside";
import { pathTarget } from "@retinue/core/files/resolve-path";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { Target } from "@retinue/core/schema/rights";
import type { WorkbenchSettings } from "@retinue/core/schema/settings";
import {
  type AnyTool,
  defineTool,
  type HostPlaces,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from "@retinue/core/tools/tool";
import { observe } from "../workspace-files.ts";
import { createFolderWorkbench } from "./folder-workbench.ts";
import { createHttpWorkbench } from "./http-workbench.ts";
import { measureFile } from "./part-file.ts";
import { downloadFile, type TransferOptions, type Transferred, uploadFile } from "./transfer-file.ts";
import {
  findPathFault,
  findSessionFault,
  type RemoteFile,
  type Workbench,
  WorkbenchError,
} from "./workbench.ts";

type BridgeInput = { local_path: string; remote_path: string; session_id?: string };

/** What tests set. */
type BridgeOptions = Pick<TransferOptions, "chunkBytes" | "patience" | "backoffMs">;

/** The two tools over a workbench; without one they take that of the settings. */
export function createWorkbenchTools(
  workbench: Workbench | undefined,
  options: BridgeOptions = {},
): readonly AnyTool[] {
  return [createUploadTool(workbench, options), createDownloadTool(workbench, options)];
}

const NOT_SET_UP = "no workbench is set up";

const INPUT = {
  type: "object",
  properties: {
    local_path: {
      type: "string",
      minLength: 1,
      description: "A file of the project, or of the workspace with the prefix workspace:.",
    },
    remote_path: {
      type: "string",
      minLength: 1,
      description: "Path on the workbench, such as work/data.json.",
    },
    session_id: {
      type: "string",
      minLength: 1,
      description: "The workbench's session; this session by default.",
    },
  },
  required: ["local_path", "remote_path"],
  additionalProperties: false,
} as const;

const checkInput = ({ remote_path, session_id }: BridgeInput) =>
  findPathFault(remote_path) ?? (session_id === undefined ? null : findSessionFault(session_id));

/** `workbench_upload` and `workbench_download` as the settings want them; the runtime hands those in. */
export const workbenchTools: readonly AnyTool[] = createWorkbenchTools(undefined);

function createUploadTool(workbench: Workbench | undefined, options: BridgeOptions): Tool<BridgeInput> {
  return defineTool<BridgeInput>({
    name: "workbench_upload",
    description:
      "Copies a local file to the remote workbench, checked by checksum. An upload that was interrupted goes on where it stopped.",
    groups: ["workbench"],
    risk: isRemote(workbench) ? "high" : "medium",
    outbound: true,
    replay: "lookup",
    offered: workbench !== undefined,
    input: INPUT,
    check: checkInput,
    access: async ({ local_path }, roots) => [
      await pathTarget(local_path, "read", roots),
      ...listHosts(workbench),
    ],
    lookup: (input, context) => lookUp(workbench, input, context, "uploaded"),
    ...(!workbench && {
      withSettings: ({ workbench: wanted = {} }, places) =>
        createUploadTool(createWorkbench(wanted, places), options),
    }),
    close: () => workbench?.close(),
    execute: (input, context) =>
      observeTransfer("upload", workbench, { input, context }, async (bench, file) => {
        const target = findLocalTarget(context);
        if (!context.maySee(target)) throw new PathRefused("you have no right to read it");
        await using handle = await openForReading(findRoot(target, context), target.path);
        return await uploadFile(handle, file, createTransfer(bench, context, "sent", options));
      }),
  });
}

function createDownloadTool(workbench: Workbench | undefined, options: BridgeOptions): Tool<BridgeInput> {
  return defineTool<BridgeInput>({
    name: "workbench_download",
    description:
      "Copies a file of the remote workbench here, checked by checksum. A download that was interrupted goes on where it stopped.",
    groups: ["workbench"],
    risk: "medium",
    untrusted: true,
    // It asks the person's own service, and nobody else.
    requests: () => [],
    replay: "lookup",
    offered: workbench !== undefined,
    input: INPUT,
    check: checkInput,
    access: async ({ local_path }, roots) => [
      await pathTarget(local_path, "write", roots),
      ...listHosts(workbench),
    ],
    lookup: (input, context) => lookUp(workbench, input, context, "downloaded"),
    ...(!workbench && {
      withSettings: ({ workbench: wanted = {} }, places) =>
        createDownloadTool(createWorkbench(wanted, places), options),
    }),
    close: () => workbench?.close(),
    execute: (input, context) =>
      observeTransfer("download", workbench, { input, context }, async (bench, file) => {
        const target = findLocalTarget(context);
        if (target.root === "project" && !context.mayWrite(target))
          throw new PathRefused("you have no right to write it; download to the workspace with workspace:");
        const { workspaceDir, beforeChange } = context;
        const destination = {
          root: findRoot(target, context),
          path: target.path,
          partsRoot: workspaceDir,
          beforeChange,
        };
        const done = await downloadFile(
          file,
          destination,
          createTransfer(bench, context, "received", options),
        );
        context.changed(target.path, done.kind);
        return done;
      }),
  });
}

function isRemote(workbench: Workbench | undefined): boolean {
  return (workbench?.hosts.length ?? 0) > 0;
}

function listHosts(workbench: Workbench | undefined): Target[] {
  return (workbench?.hosts ?? []).map((host) => ({ kind: "host", host }));
}

type PathTarget = Extract<Target, { kind: "path" }>;

/** The path that was judged, not the one that the same words would lead to now. */
function findLocalTarget({ targets }: Pick<ToolContext, "targets">): PathTarget {
  const target = targets.find((each) => each.kind === "path");
  if (!target || target.root === "outside")
    throw new PathRefused("it is outside the project and the workspace");
  return target;
}

function findRoot(
  { root }: PathTarget,
  { projectDir, workspaceDir }: Pick<ToolContext, "projectDir" | "workspaceDir">,
) {
  return root === "project" ? projectDir : workspaceDir;
}

function createTransfer(
  workbench: Workbench,
  { signal, progress }: ToolContext,
  verb: string,
  options: BridgeOptions,
): TransferOptions {
  let shown = -1;
  return {
    ...options,
    workbench,
    signal,
    onProgress(bytes, size) {
      const tenth = Math.floor((bytes / size) * 10);
      if (tenth > shown) progress(`${verb} ${tenth * 10} % of ${size} bytes`);
      shown = Math.max(shown, tenth);
    },
  };
}

/** Does a transfer, answers with its measures, and leaves a note of it, whatever came of it, in the workspace. */
async function observeTransfer(
  action: "upload" | "download",
  workbench: Workbench | undefined,
  { input, context }: { input: BridgeInput; context: ToolContext },
  work: (workbench: Workbench, file: RemoteFile) => Promise<Transferred>,
): Promise<ToolOutput> {
  if (!workbench) return { text: NOT_SET_UP, isError: true };
  const { local_path, remote_path, session_id = context.sessionId } = input;
  const began = new Date().toISOString();
  let outcome: Readonly<Record<string, unknown>>;
  try {
    const done = await work(workbench, { session: session_id, path: remote_path });
    const { size, sha256, resumedFrom, interruptions } = done;
    outcome = { success: true, bytes: size, sha256, resumed_from: resumedFrom, interruptions };
  } catch (thrown) {
    outcome = { success: false, error: describeTransferFault(thrown, local_path) };
  }
  const about = { action, local_path, remote_path, session_id };
  const value = { ...about, workbench: workbench.name, began, ended: new Date().toISOString(), ...outcome };
  observe(context, { folder: "workbench_activity", about: `${action} ${remote_path}`, value });
  return { text: JSON.stringify({ ...about, ...outcome }), isError: outcome.success === false };
}

function describeTransferFault(thrown: unknown, localPath: string): string {
  if (thrown instanceof WorkbenchError) {
    const again = thrown.failure === "unreachable" ? "; call again to go on where it stopped" : "";
    return `${thrown.message}${again}`;
  }
  return (thrown as NodeJS.ErrnoException).code === "ENOENT"
    ? `${localPath}: there is no such file`
    : `${localPath}: ${messageOf(thrown)}`;
}

/** Whether both sides hold the same, so that the call has happened; null if not. */
async function lookUp(
  workbench: Workbench | undefined,
  { local_path, remote_path, session_id }: BridgeInput,
  context: Parameters<NonNullable<Tool<BridgeInput>["lookup"]>>[1],
  verb: string,
): Promise<string | null> {
  if (!workbench) return null;
  const target = await pathTarget(local_path, "read", context);
  if (target.kind !== "path" || target.root === "outside") return null;
  const handle = await openForReading(findRoot(target, context), target.path).catch(() => null);
  if (!handle) return null;
  try {
    const here = await measureFile(handle, context.signal);
    const session = session_id ?? context.sessionId;
    const there = await workbench.stat({ session, path: remote_path }, context.signal);
    if (there?.sha256 !== here.sha256) return null;
    const about = { local_path, remote_path, session_id: session, bytes: here.size, sha256: here.sha256 };
    return JSON.stringify({ success: true, ...about, note: `found ${verb} after an interruption` });
  } finally {
    await handle.close();
  }
}

/** The workbench that the settings name; without a word of theirs, a folder among Retinue's data. */
export function createWorkbench(
  settings: WorkbenchSettings,
  { env, homeDir, dataDir }: Pick<HostPlaces, "env" | "homeDir" | "dataDir">,
): Workbench {
  const { folder, url, keyEnv } = settings;
  if (url === undefined)
    return createFolderWorkbench(findFolder(folder, homeDir) ?? join(dataDir, "workbench"));
  if (folder !== undefined)
    throw configError("workbench has both a folder and a url", "leave one of them out of your settings");
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.search || parsed.hash)
    throw configError(
      "workbench.url is no http or https address, or holds more than one",
      "write it as https://host/path",
    );
  if (keyEnv === undefined) return createHttpWorkbench({ url });
  // The key is needed only when the workbench is used.
  const key = () => {
    const value = env[keyEnv];
    if (value) return value;
    throw new WorkbenchError(
      "refused",
      `the settings name ${keyEnv} for the workbench's key, and it is not set`,
    );
  };
  return createHttpWorkbench({ url, key });
}

function findFolder(folder: string | undefined, homeDir: string): string | undefined {
  if (folder === undefined || isAbsolute(folder)) return folder;
  if (folder.startsWith("~/")) return join(homeDir, folder.slice(2));
  throw configError(
    `workbench.folder '${folder}' is a relative path`,
    "write a whole path, or one that begins with ~/",
  );
}

function configError(message: string, hint: string): RetinueError {
  return new RetinueError("config", message, hint);
}
