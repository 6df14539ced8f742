import { existsSync, realpathSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { isBelow } from "../shell/below.ts";
import type { CommandRequest } from "../shell/run-command.ts";
import type { Bubblewrap } from "./find-bubblewrap.ts";
import type { Guard } from "./guard-protected.ts";
import { pinPath } from "./pin-path.ts";
import { coverOf, type Mount } from "./sandbox-mounts.ts";

type Folders = Pick<CommandRequest, "projectDir" | "workspaceDir">;

/** Open handles of the places that a sandbox shows, so that it shows exactly these. */
export type Pins = {
  mount(kind: "read" | "write", at: string): Promise<Mount[]>;
  close(): Promise<void>;
};

/** Handles for one command; an older bubblewrap cannot take them, and goes by paths. */
export function createPins({ projectDir, workspaceDir }: Folders, { pins }: Pick<Bubblewrap, "pins">): Pins {
  const handles: FileHandle[] = [];
  return {
    async mount(kind, at) {
      const pin = await pinPath(isBelow(at, workspaceDir) ? workspaceDir : projectDir, at);
      if (!pin) return [];
      handles.push(pin);
      return [pins ? { kind, at, pin } : { kind, at }];
    },
    async close() {
      for (const handle of handles.splice(0)) await handle.close();
    },
  };
}

/** The two folders in the sandbox: what may be written, what may not all the same, and what is not seen. */
export async function folderMounts(
  request: CommandRequest,
  guard: Guard,
  { pins, secrets }: { pins: Pins; secrets: readonly string[] },
): Promise<Mount[]> {
  const { projectDir, workspaceDir, writable, readOnly = [], readable = [] } = request;
  const hidden = (request.hidden ?? []).flatMap(realPath);
  const isOpen = (at: string) => ![...readOnly, ...hidden].some((path) => isBelow(at, path));
  const wanted: (readonly ["read" | "write", string])[] = [
    ...[projectDir, workspaceDir].map((at) => ["read", at] as const),
    ...[...writable, ...guard.fixed].filter(isOpen).map((at) => ["write", at] as const),
    ...[...readOnly, ...guard.existing]
      .filter((at) => !hidden.some((path) => isBelow(at, path)))
      .map((at) => ["read", at] as const),
  ];
  const mounts: Mount[] = readable.flatMap(realPath).map((at) => ({ kind: "read", at }));
  for (const [kind, at] of wanted) mounts.push(...(await pins.mount(kind, at)));
  const isShown = (path: string) => isBelow(path, projectDir) || isBelow(path, workspaceDir);
  const covered = [...secrets.flatMap(realPath), ...hidden].filter(isShown);
  return [
    ...mounts,
    ...guard.missing.filter(isOpen).map((at): Mount => ({ kind: "hide-folder", at })),
    ...covered.flatMap((at) => coverOf(at, [projectDir, workspaceDir])),
  ];
}

function realPath(path: string): string[] {
  return existsSync(path) ? [realpathSync(path)] : [];
}
