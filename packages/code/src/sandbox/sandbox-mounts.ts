import { fstatSync, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import { tryTo } from "@retinue/core/schema/error";
import type { CommandRequest } from "../shell/command.ts";
import type { Bubblewrap } from "./find-bubblewrap.ts";
import type { ProtectionGuard } from "./guard-protected.ts";
import { cutDeepPath, type PinnedPath, pinPath } from "./pin-path.ts";
import type { ProgramFolders } from "./program-folders.ts";

/** One thing to put into the sandbox. A later one at the same path takes the place of an earlier one. */
export type Mount =
  /** `pin` is an open handle of what is meant: swapping the path for another gains nothing. */
  | { kind: "read" | "write"; at: string; from?: string; pin?: Pick<PinnedPath, "fd"> }
  | { kind: "empty"; at: string; megabytes: number; mode?: string }
  | { kind: "link"; at: string; target: string }
  /** Covered by something empty that cannot be written. */
  | { kind: "hide-folder" | "hide-file"; at: string };

/** What of /proc tells or changes more of the machine than programs need. */
const PROC_SECRETS =
  "acpi asound cmdline kcore key-users keys kmsg latency_stats sched_debug scsi timer_list".split(" ");

/**
 * What is there besides the folders of the request (`shown`): programs, /proc, /dev and places for temporary files. An
 * installation in one of those folders is there anyway, and one around such a folder would show what lies beside it.
 */
export function listBaseMounts(
  programs: ProgramFolders,
  { home, memoryMb, shown }: { home: string; memoryMb: number; shown: readonly string[] },
): Mount[] {
  const megabytes = Math.max(16, Math.floor(memoryMb / 2));
  const installed = programs.installations
    .map(({ bin, around }) => (shown.some((folder) => isBelow(folder, around)) ? bin : around))
    .filter((folder) => !shown.some((each) => isBelow(folder, each)));
  return [
    { kind: "empty", at: "/tmp", megabytes, mode: "1777" },
    { kind: "empty", at: home, megabytes },
    { kind: "empty", at: "/dev/shm", megabytes, mode: "1777" },
    ...programs.links.map(([at, target]): Mount => ({ kind: "link", at, target })),
    ...[...programs.folders, ...installed].map((at): Mount => ({ kind: "read", at })),
    ...programs.etc.map((at): Mount => ({ kind: "read", at, from: realpathSync(at) })),
    ...listProcMounts(),
    // The inner namespace forbids further ones here; only it may.
    { kind: "write", at: "/proc/sys/user" },
  ];
}

/**
 * Root without capabilities is still root to /proc: kernel settings such as the program that receives core dumps belong
 * to uid 0. So everything there that is not about processes is read-only.
 */
function listProcMounts(): Mount[] {
  // Names alone: processes end while they are listed.
  const names = readdirSync("/proc").filter((name) => !/^\d+$/.test(name));
  return names.flatMap((name): Mount[] => {
    const at = `/proc/${name}`;
    const stats = lstatSync(at);
    if (stats.isSymbolicLink()) return [];
    if (PROC_SECRETS.includes(name)) return [{ kind: stats.isDirectory() ? "hide-folder" : "hide-file", at }];
    if (stats.isDirectory()) return [{ kind: "read", at }];
    return (stats.mode & 0o222) !== 0 ? [{ kind: "read", at }] : [];
  });
}

/** Mounts in the order in which they are made: outer folders first, and one for each path. */
export function orderMounts(mounts: readonly Mount[]): Mount[] {
  const last = new Map(mounts.map((mount) => [mount.at, mount]));
  return [...last.values()].toSorted((a, b) => measureDepth(a.at) - measureDepth(b.at));
}

/**
 * The options of bubblewrap for ordered mounts, and the handles that it must get, the first as file `firstFd`. It closes
 * those that its options name and no others, so there must be none besides. An older one cannot take handles and goes by
 * paths; what it made of them is checked before the command begins.
 */
export function toBwrapOptions(
  ordered: readonly Mount[],
  { sized, pins }: Pick<Bubblewrap, "sized" | "pins">,
  firstFd: number,
): { options: string[]; fds: number[] } {
  const fds: number[] = [];
  const options = ["--proc", "/proc", "--dev", "/dev"];
  for (const mount of ordered) {
    const pin = pins && "pin" in mount ? mount.pin : undefined;
    if (pin) fds.push(pin.fd);
    options.push(...toOptions(mount, sized, pin && firstFd + fds.length - 1));
  }
  // Else these two could be filled, and they have no size.
  return { options: [...options, "--remount-ro", "/dev", "--remount-ro", "/"], fds };
}

function toOptions(mount: Mount, sized: boolean, fd: number | undefined): string[] {
  const { at } = mount;
  switch (mount.kind) {
    case "read":
      return fd ? ["--ro-bind-fd", String(fd), at] : ["--ro-bind", mount.from ?? at, at];
    case "write":
      return fd ? ["--bind-fd", String(fd), at] : ["--bind", mount.from ?? at, at];
    case "empty": {
      const perms = ["--perms", mount.mode ?? "0700"];
      const size = sized ? ["--size", String(mount.megabytes * 1024 * 1024)] : [];
      return [...perms, ...size, "--tmpfs", at];
    }
    case "link":
      return ["--symlink", mount.target, at];
    case "hide-folder":
      return ["--perms", "0555", "--tmpfs", at, "--remount-ro", at];
    case "hide-file":
      return ["--ro-bind", "/dev/null", at];
  }
}

/**
 * Compares what is in a sandbox with what was meant to; gives the first place that differs. Another command may have
 * moved or replaced a folder while the sandbox was being set up.
 */
export async function findWrongMount(pid: number, ordered: readonly Mount[]): Promise<string | undefined> {
  for (const mount of ordered) {
    const pin = "pin" in mount ? mount.pin : undefined;
    if (!pin && mount.kind !== "hide-folder" && mount.kind !== "hide-file") continue;
    const inside = await stat(`/proc/${pid}/root${mount.at}`, { bigint: true }).catch(() => undefined);
    const meant = pin
      ? fstatSync(pin.fd, { bigint: true })
      : await stat(mount.at, { bigint: true }).catch(() => undefined);
    const isSame = inside !== undefined && inside.dev === meant?.dev && inside.ino === meant.ino;
    if (inside === undefined || isSame !== (pin !== undefined)) return mount.at;
  }
  return undefined;
}

/** How a path is covered, by what it is now; a folder in which one of `shown` lies must take a mount inside. */
function coverPath(at: string, shown: readonly string[]): Mount[] {
  const stats = statSync(at, { throwIfNoEntry: false });
  if (!stats) return [];
  if (!stats.isDirectory()) return [{ kind: "hide-file", at }];
  const holds = shown.some((path) => path !== at && isBelow(path, at));
  return [holds ? { kind: "empty", at, megabytes: 1 } : { kind: "hide-folder", at }];
}

function measureDepth(path: string): number {
  return path.split("/").filter(Boolean).length;
}

/**
 * The two folders in the sandbox: what may be written, what may not all the same, and what is not seen. Folders around
 * what is closed or covered are mounted on themselves, so that they cannot be renamed away from under the rules. `pins`
 * gets the open handles of all places that are shown.
 */
export function listFolderMounts(
  request: CommandRequest,
  guard: Pick<ProtectionGuard, "closed" | "held" | "hidden">,
  { pins, secrets }: { pins: DisposableStack; secrets: readonly string[] },
): Mount[] {
  const { projectDir, workspaceDir, writable, readable = [] } = request;
  const rootOf = (path: string) => (isBelow(path, workspaceDir) ? workspaceDir : projectDir);
  const cut = (path: string) => cutDeepPath(rootOf(path), path);
  const hidden = [...(request.hidden ?? []), ...guard.hidden].flatMap(findRealPath).map(cut);
  // A file that holds a place is read-only like one that is the project's own.
  const { file: files = [], folder: folders = [] } = Object.groupBy(guard.held, (at) =>
    lstatSync(at, { throwIfNoEntry: false })?.isFile() ? "file" : "folder",
  );
  const closed = [...(request.readOnly ?? []).map(cut), ...guard.closed, ...files];
  const isOpen = (at: string) => ![...closed, ...hidden].some((path) => isBelow(at, path));
  const fixed = findFoldersAround([...closed, ...hidden, ...guard.held], writable);
  const wanted: (readonly ["read" | "write", string])[] = [
    ...[projectDir, workspaceDir].map((at) => ["read", at] as const),
    ...[...writable, ...fixed].filter(isOpen).map((at) => ["write", at] as const),
    ...closed.filter((at) => !hidden.some((path) => isBelow(at, path))).map((at) => ["read", at] as const),
  ];
  const mounts: Mount[] = readable.flatMap(findRealPath).map((at) => ({ kind: "read", at }));
  for (const [kind, at] of wanted) {
    const pin = pinPath(rootOf(at), at);
    if (pin) mounts.push({ kind, at, pin: pins.use(pin) });
    else if (closed.includes(at) || at === rootOf(at)) throw new MovedMeanwhile(at);
  }
  const isShown = (path: string) => isBelow(path, projectDir) || isBelow(path, workspaceDir);
  const covered = [...secrets.flatMap(findRealPath), ...hidden].filter(isShown);
  return [
    ...mounts,
    ...folders
      .filter((at) => isOpen(at) && !covered.some((path) => isBelow(at, path)))
      .map((at): Mount => ({ kind: "hide-folder", at })),
    ...covered.flatMap((at) => coverPath(at, [projectDir, workspaceDir])),
  ];
}

/** Every folder between a writable one and one of the paths. */
function findFoldersAround(paths: readonly string[], writable: readonly string[]): Set<string> {
  const folders = new Set<string>();
  for (const path of paths) {
    const top = writable.find((folder) => folder !== path && isBelow(path, folder));
    if (top === undefined) continue;
    for (let at = dirname(path); at !== top && !folders.has(at); at = dirname(at)) folders.add(at);
  }
  return folders;
}

/** Nothing where nothing is. */
function findRealPath(path: string): string[] {
  return tryTo(() => [realpathSync(path)]) ?? [];
}

/** Something that is part of a sandbox is not where it was a moment before. */
export class MovedMeanwhile extends Error {
  constructor(path: string) {
    super(`${path} was moved or replaced meanwhile`);
  }
}
