import { lstatSync, realpathSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { isBelow } from "../../../files/is-below.ts";
import type { CommandRequest } from "../shell/run-command.ts";
import type { Guard } from "./guard-protected.ts";
import { pinPath } from "./pin-path.ts";
import { coverOf, type Mount } from "./sandbox-mounts.ts";
import { cutDeepPath } from "./settle-command.ts";

type Folders = Pick<CommandRequest, "projectDir" | "workspaceDir">;

/** Open handles of the places that a sandbox shows, so that it shows exactly these. */
export type Pins = {
  mount(kind: "read" | "write", at: string): Promise<Mount[]>;
  close(): Promise<void>;
};

/** Handles for one command. */
export function createPins({ projectDir, workspaceDir }: Folders): Pins {
  const handles: FileHandle[] = [];
  return {
    async mount(kind, at) {
      const pin = await pinPath(isBelow(at, workspaceDir) ? workspaceDir : projectDir, at);
      if (!pin) return [];
      handles.push(pin);
      return [{ kind, at, pin }];
    },
    async close() {
      for (const handle of handles.splice(0)) await handle.close();
    },
  };
}

/**
 * The two folders in the sandbox: what may be written, what may not all the same, and what is not seen. Folders around
 * what is closed or covered are mounted on themselves, so that they cannot be renamed away from under the rules.
 */
export async function folderMounts(
  request: CommandRequest,
  guard: Pick<Guard, "closed" | "held" | "hidden">,
  { pins, secrets }: { pins: Pins; secrets: readonly string[] },
): Promise<Mount[]> {
  const { projectDir, workspaceDir, writable, readable = [] } = request;
  const cut = (path: string) => cutDeepPath(isBelow(path, workspaceDir) ? workspaceDir : projectDir, path);
  const hidden = [...(request.hidden ?? []), ...guard.hidden].flatMap(realPath).map(cut);
  // A file that holds a place is read-only like one that is the project's own.
  const [files, folders] = partition(
    guard.held,
    (at) => lstatSync(at, { throwIfNoEntry: false })?.isFile() === true,
  );
  const closed = [...(request.readOnly ?? []).map(cut), ...guard.closed, ...files];
  const isOpen = (at: string) => ![...closed, ...hidden].some((path) => isBelow(at, path));
  const fixed = foldersAround([...closed, ...hidden, ...guard.held], writable);
  const wanted: (readonly ["read" | "write", string])[] = [
    ...[projectDir, workspaceDir].map((at) => ["read", at] as const),
    ...[...writable, ...fixed].filter(isOpen).map((at) => ["write", at] as const),
    ...closed.filter((at) => !hidden.some((path) => isBelow(at, path))).map((at) => ["read", at] as const),
  ];
  const mounts: Mount[] = readable.flatMap(realPath).map((at) => ({ kind: "read", at }));
  for (const [kind, at] of wanted) {
    const made = await pins.mount(kind, at);
    if (made.length === 0 && closed.includes(at)) throw new MovedMeanwhile(at);
    mounts.push(...made);
  }
  const isShown = (path: string) => isBelow(path, projectDir) || isBelow(path, workspaceDir);
  const covered = [...secrets.flatMap(realPath), ...hidden].filter(isShown);
  return [
    ...mounts,
    ...folders
      .filter((at) => isOpen(at) && !covered.some((path) => isBelow(at, path)))
      .map((at): Mount => ({ kind: "hide-folder", at })),
    ...covered.flatMap((at) => coverOf(at, [projectDir, workspaceDir])),
  ];
}

function partition<Item>(items: readonly Item[], isFirst: (item: Item) => boolean): [Item[], Item[]] {
  const first = new Set(items.filter(isFirst));
  return [[...first], items.filter((item) => !first.has(item))];
}

/** Every folder between a writable one and one of the paths. */
function foldersAround(paths: readonly string[], writable: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    const top = writable.find((folder) => folder !== path && isBelow(path, folder));
    if (top === undefined) continue;
    for (let at = dirname(path); at !== top && !folders.has(at); at = dirname(at)) folders.add(at);
  }
  return folders;
}

function realPath(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

/** Something that is part of a sandbox is not where it was a moment before. */
export class MovedMeanwhile extends Error {
  constructor(path: string) {
    super(`${path} was moved or replaced meanwhile`);
  }
}
