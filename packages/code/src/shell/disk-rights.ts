import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ToolContext } from "@retinue/core/tools/tool";
import { isProtected } from "../sandbox/protected-paths.ts";
import type { CommandRequest } from "./command.ts";

/** A run's rights on files, as places on the disk that a sandbox can open, close or cover. */
export type DiskRights = Required<Pick<CommandRequest, "writable" | "readOnly" | "hidden">> & {
  notes: readonly string[];
};

type Asked = Pick<ToolContext, "projectDir" | "workspaceDir" | "maySee" | "mayWrite" | "dividesFiles">;
type Root = { name: "project" | "workspace"; dir: string };
type Folder = { path: string; relative: string; writable: boolean };

/** Entries looked at while no rule on files shows. */
const ENOUGH = 4_000;
/** Entries looked at if one does. */
const MOST = 20_000;
/** Parts that a sandbox is put together from. */
const MOST_MOUNTS = 400;
/** Places that a sandbox covers. */
const MOST_HIDDEN = 1_000;
/** A name that no rule is about: what holds for it holds for new files of a folder. */
const PROBE = "retinue-probe.7f3a";
/** Names that rules are most often about. */
const USUAL = [
  ".env",
  ".env.local",
  "secrets/key.pem",
  "src/index.ts",
  "test/a.test.ts",
  "docs/a.md",
  "package-lock.json",
];

/**
 * Finds the folders and files that the run may write, those among them that it may not, and those that it may not even
 * read. What could not be looked at any more is closed, as far as a rule has shown.
 */
export async function findDiskRights(context: Asked): Promise<DiskRights> {
  const survey = new Survey(context);
  const closed =
    (await survey.lookThrough({ name: "project", dir: context.projectDir })) +
    (await survey.lookThrough({ name: "workspace", dir: context.workspaceDir }));
  const notes =
    closed > 0 ? [`${closed} folders are closed: there are too many to check all for your rights`] : [];
  const { writable, readOnly } = survey;
  if (survey.readsRuled && survey.histories.length > 0) {
    survey.hidden.push(...survey.histories);
    notes.push("git's own files are hidden, because they also hold what you may not read; use the git tools");
  }
  const hidden = mergePlaces(survey.hidden, [context.projectDir, context.workspaceDir], MOST_HIDDEN);
  if (hidden.length < survey.hidden.length)
    notes.push("folders with much in them that you may not read are hidden as a whole");
  if (writable.length + readOnly.length <= MOST_MOUNTS) return { writable, readOnly, hidden, notes };
  const why = "nothing can be written: the rules on files divide the project into too many parts";
  return { writable: [], readOnly: [], hidden, notes: [...notes, why] };
}

/** As many places as a sandbox can be put together from: of too many, the folders around them. */
export function mergePlaces(paths: readonly string[], roots: readonly string[], most: number): string[] {
  let places = [...new Set(paths)];
  while (places.length > most) {
    const known = new Set(places);
    const deepest = places.reduce((most, path) => Math.max(most, measureDepth(path)), 0);
    const above = places.map((path) =>
      measureDepth(path) === deepest && !roots.includes(dirname(path)) ? dirname(path) : path,
    );
    const next = [...new Set(above)];
    if (next.every((path) => known.has(path))) return [...roots];
    places = next;
  }
  return places;
}

function measureDepth(path: string): number {
  return path.split("/").length;
}

/** What is found out about the files of a run. */
class Survey {
  readonly writable: string[] = [];
  readonly readOnly: string[] = [];
  readonly hidden: string[] = [];
  /** Where git keeps what files held before. */
  readonly histories: string[] = [];
  /** There is a rule on reading, or on writing, or one has shown. */
  readsRuled: boolean;
  writesRuled: boolean;
  #seen = 0;
  readonly #context: Asked;

  constructor(context: Asked) {
    this.#context = context;
    this.readsRuled = context.dividesFiles?.read ?? false;
    this.writesRuled = context.dividesFiles?.write ?? false;
  }

  /** Gives the number of folders that were closed unseen. */
  async lookThrough(root: Root): Promise<number> {
    const top: Folder = { path: root.dir, relative: "", writable: this.#mayWrite(root, PROBE) };
    if (top.writable) this.writable.push(top.path);
    this.readsRuled ||= USUAL.some((name) => !this.#maySee(root, name));
    this.writesRuled ||= USUAL.some((name) => this.#mayWrite(root, name) !== top.writable);
    const waiting = [top];
    for (const [index, folder] of waiting.entries()) {
      const isRuled = this.readsRuled || this.writesRuled;
      if (this.#seen > (isRuled ? MOST : ENOUGH)) return isRuled ? this.#close(waiting.slice(index)) : 0;
      for (const entry of await listEntries(folder.path)) {
        const below = this.#lookAt(entry, folder, root);
        if (below) waiting.push(below);
      }
    }
    return 0;
  }

  /** Notes where an entry differs from its folder; gives a folder to continue with. */
  #lookAt(entry: Dirent, folder: Folder, root: Root): Folder | undefined {
    this.#seen++;
    const path = join(folder.path, entry.name);
    const relative = folder.relative === "" ? entry.name : `${folder.relative}/${entry.name}`;
    const isFolder = entry.isDirectory();
    if (!this.#maySee(root, relative) || (isFolder && !this.#maySee(root, `${relative}/${PROBE}`))) {
      this.hidden.push(path);
      this.readsRuled = true;
      return undefined;
    }
    if (entry.name === ".git") this.histories.push(path);
    if (isProtected(path, root.dir) || !(isFolder || entry.isFile())) return undefined;
    const writable = this.#mayWrite(root, isFolder ? `${relative}/${PROBE}` : relative);
    if (writable !== folder.writable) {
      (writable ? this.writable : this.readOnly).push(path);
      this.writesRuled = true;
    }
    return isFolder && entry.name !== "node_modules" ? { path, relative, writable } : undefined;
  }

  #close(folders: readonly Folder[]): number {
    for (const { path, writable } of folders) {
      if (this.readsRuled) this.hidden.push(path);
      else if (writable) this.readOnly.push(path);
    }
    return folders.length;
  }

  #maySee({ name, dir }: Root, relative: string): boolean {
    return this.#context.maySee({
      kind: "path",
      path: join(dir, relative),
      root: name,
      relative,
      mode: "read",
    });
  }

  #mayWrite({ name, dir }: Root, relative: string): boolean {
    return this.#context.mayWrite({
      kind: "path",
      path: join(dir, relative),
      root: name,
      relative,
      mode: "write",
    });
  }
}

function listEntries(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
