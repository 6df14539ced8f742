import { openForReading, PathRefused } from "../../../files/open-inside.ts";
import { pathTarget } from "../../../files/resolve-path.ts";
import { messageOf } from "../../../schema/error.ts";
import type { Target } from "../../../schema/rights.ts";
import {
  type AnyTool,
  defineTool,
  type Tool,
  type ToolContext,
  type ToolOutput,
} from "../../../tools/tool.ts";
import { observe } from "../observe.ts";
import { factsOf } from "./checksum.ts";
import { createWorkbench } from "./create-workbench.ts";
import { downloadFile } from "./download-file.ts";
import { remotePathFault, remoteSessionFault } from "./remote-path.ts";
import type { TransferOptions, Transferred } from "./transfer.ts";
import { uploadFile } from "./upload-file.ts";
import { type RemoteFile, type Workbench, WorkbenchError } from "./workbench.ts";

type BridgeInput = { local_path: string; remote_path: string; session_id?: string };

/** What tests set. */
export type BridgeOptions = Pick<TransferOptions, "chunkBytes" | "patience" | "backoffMs">;

/** The two tools over a workbench; without one they take that of the settings. */
export function createWorkbenchTools(
  workbench: Workbench | undefined,
  options: BridgeOptions = {},
): readonly AnyTool[] {
  return [uploadTool(workbench, options), downloadTool(workbench, options)];
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

const check = ({ remote_path, session_id }: BridgeInput) =>
  remotePathFault(remote_path) ?? (session_id === undefined ? null : remoteSessionFault(session_id));

/** `workbench_upload` and `workbench_download` as the settings want them; the runtime hands those in. */
export const workbenchTools: readonly AnyTool[] = createWorkbenchTools(undefined);

function uploadTool(workbench: Workbench | undefined, options: BridgeOptions): Tool<BridgeInput> {
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
    check,
    access: async ({ local_path }, roots) => [
      await pathTarget(local_path, "read", roots),
      ...hostsOf(workbench),
    ],
    lookup: (input, context) => lookUp(workbench, input, context, "uploaded"),
    ...(!workbench && {
      withSettings: ({ workbench: wanted = {} }, places) =>
        uploadTool(createWorkbench(wanted, places), options),
    }),
    close: () => workbench?.close(),
    execute: (input, context) =>
      observed("upload", workbench, { input, context }, async (bench, file) => {
        const target = localTarget(context);
        if (!context.maySee(target)) throw new PathRefused("you have no right to read it");
        const handle = await openForReading(rootOf(target, context), target.path);
        try {
          return await uploadFile(handle, file, transferOf(bench, context, "sent", options));
        } finally {
          await handle.close();
        }
      }),
  });
}

function downloadTool(workbench: Workbench | undefined, options: BridgeOptions): Tool<BridgeInput> {
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
    check,
    access: async ({ local_path }, roots) => [
      await pathTarget(local_path, "write", roots),
      ...hostsOf(workbench),
    ],
    lookup: (input, context) => lookUp(workbench, input, context, "downloaded"),
    ...(!workbench && {
      withSettings: ({ workbench: wanted = {} }, places) =>
        downloadTool(createWorkbench(wanted, places), options),
    }),
    close: () => workbench?.close(),
    execute: (input, context) =>
      observed("download", workbench, { input, context }, async (bench, file) => {
        const target = localTarget(context);
        if (target.root === "project" && !context.mayWrite(target))
          throw new PathRefused("you have no right to write it; download to the workspace with workspace:");
        const { workspaceDir, beforeChange } = context;
        const destination = {
          root: rootOf(target, context),
          path: target.path,
          partsRoot: workspaceDir,
          beforeChange,
        };
        const done = await downloadFile(file, destination, transferOf(bench, context, "received", options));
        context.changed(target.path, done.kind);
        return done;
      }),
  });
}

function isRemote(workbench: Workbench | undefined): boolean {
  return (workbench?.hosts.length ?? 0) > 0;
}

function hostsOf(workbench: Workbench | undefined): Target[] {
  return (workbench?.hosts ?? []).map((host) => ({ kind: "host", host }));
}

type PathTarget = Extract<Target, { kind: "path" }>;

/** The path that was judged, not the one that the same words would lead to now. */
function localTarget({ targets }: Pick<ToolContext, "targets">): PathTarget {
  const target = targets.find((each) => each.kind === "path");
  if (!target || target.root === "outside")
    throw new PathRefused("it is outside the project and the workspace");
  return target;
}

function rootOf(
  { root }: PathTarget,
  { projectDir, workspaceDir }: Pick<ToolContext, "projectDir" | "workspaceDir">,
) {
  return root === "project" ? projectDir : workspaceDir;
}

function transferOf(
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
async function observed(
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
    outcome = { success: false, error: faultOf(thrown, local_path) };
  }
  const about = { action, local_path, remote_path, session_id };
  const value = { ...about, workbench: workbench.name, began, ended: new Date().toISOString(), ...outcome };
  observe(context, { folder: "workbench_activity", about: `${action} ${remote_path}`, value });
  return { text: JSON.stringify({ ...about, ...outcome }), isError: outcome.success === false };
}

function faultOf(thrown: unknown, localPath: string): string {
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
  const handle = await openForReading(rootOf(target, context), target.path).catch(() => null);
  if (!handle) return null;
  try {
    const here = await factsOf(handle, context.signal);
    const session = session_id ?? context.sessionId;
    const there = await workbench.stat({ session, path: remote_path }, context.signal);
    if (there?.sha256 !== here.sha256) return null;
    const about = { local_path, remote_path, session_id: session, bytes: here.size, sha256: here.sha256 };
    return JSON.stringify({ success: true, ...about, note: `found ${verb} after an interruption` });
  } finally {
    await handle.close();
  }
}
