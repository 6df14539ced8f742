import { isAbsolute, join } from "node:path";
import { openForReading, PathRefused } from "@retinue/core/files/open-inside";
import { pathTarget } from "@retinue/core/files/resolve-path";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { Target } from "@retinue/core/schema/rights";
import type { WorkbenchSettings } from "@retinue/core/schema/settings";
import { findJudgedPath } from "@retinue/core/tools/judged-path";
import {
  type AnyTool,
  defineTool,
  type HostPlaces,
  type Tool,
  type ToolContext,
  type ToolDefinition,
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
  return [createBridge(UPLOAD, workbench, options), createBridge(DOWNLOAD, workbench, options)];
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

/** Where the two tools differ. */
type Direction = Pick<AnyTool, "description"> &
  Pick<ToolDefinition<BridgeInput>, "risk" | "outbound" | "untrusted" | "requests"> & {
    action: "upload" | "download";
    mode: "read" | "write";
    transfer(
      bench: Workbench,
      file: RemoteFile,
      context: ToolContext,
      options: BridgeOptions,
    ): Promise<Transferred>;
  };

const UPLOAD: Direction = {
  action: "upload",
  description:
    "Copies a local file to the remote workbench, checked by checksum. An upload that was interrupted goes on where it stopped.",
  outbound: true,
  mode: "read",
  async transfer(bench, file, context, options) {
    const { target, root } = findJudgedPath(context);
    if (!context.maySee(target)) throw new PathRefused("you have no right to read it");
    await using handle = await openForReading(root, target.path);
    return await uploadFile(handle, file, createTransfer(bench, context, "sent", options));
  },
};

const DOWNLOAD: Direction = {
  action: "download",
  description:
    "Copies a file of the remote workbench here, checked by checksum. A download that was interrupted goes on where it stopped.",
  risk: "medium",
  untrusted: true,
  // It asks the person's own service, and nobody else.
  requests: () => [],
  mode: "write",
  async transfer(bench, file, context, options) {
    const { target, root } = findJudgedPath(context);
    if (target.root === "project" && !context.mayWrite(target))
      throw new PathRefused("you have no right to write it; download to the workspace with workspace:");
    const { workspaceDir, beforeChange } = context;
    const destination = { root, path: target.path, partsRoot: workspaceDir, beforeChange };
    const done = await downloadFile(file, destination, createTransfer(bench, context, "received", options));
    context.changed(target.path, done.kind);
    return done;
  },
};

function createBridge(
  direction: Direction,
  workbench: Workbench | undefined,
  options: BridgeOptions,
): Tool<BridgeInput> {
  const { action, mode, transfer, ...definition } = direction;
  const hosts: readonly Target[] = (workbench?.hosts ?? []).map((host) => ({ kind: "host", host }));
  return defineTool<BridgeInput>({
    name: `workbench_${action}`,
    risk: hosts.length > 0 ? "high" : "medium",
    ...definition,
    groups: ["workbench"],
    replay: "lookup",
    offered: workbench !== undefined,
    input: INPUT,
    check: checkInput,
    access: async ({ local_path }, roots) => [await pathTarget(local_path, mode, roots), ...hosts],
    lookup: (input, context) => lookUp(workbench, input, context, `${action}ed`),
    ...(!workbench && {
      withSettings: ({ workbench: wanted = {} }, places) =>
        createBridge(direction, createWorkbench(wanted, places), options),
    }),
    close: () => workbench?.close(),
    execute: (input, context) =>
      observeTransfer(action, workbench, { input, context }, (bench, file) =>
        transfer(bench, file, context, options),
      ),
  });
}

/** `workbench_upload` and `workbench_download` as the settings want them; the runtime hands those in. */
export const workbenchTools: readonly AnyTool[] = createWorkbenchTools(undefined);

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
  const { root } = findJudgedPath({ ...context, targets: [target] });
  await using handle = await openForReading(root, target.path).catch(() => null);
  if (!handle) return null;
  const here = await measureFile(handle, context.signal);
  const session = session_id ?? context.sessionId;
  const there = await workbench.stat({ session, path: remote_path }, context.signal);
  if (there?.sha256 !== here.sha256) return null;
  const about = { local_path, remote_path, session_id: session, bytes: here.size, sha256: here.sha256 };
  return JSON.stringify({ success: true, ...about, note: `found ${verb} after an interruption` });
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
