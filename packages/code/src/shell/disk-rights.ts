import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Target } from "@retinue/core/schema/rights";
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
class Survey {
  readonly writable: string[] = [];
  readonly readOnly: string[] = [];
  readonly hidden: string[] = [];
  /** Where git keeps what files held before. */
  readonly histories: string[] = [];
  seen = 0;
  /** There is a rule on reading, or on writing, or one has shown. */
  readsRuled = false;
  writesRuled = false;
}

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
  const survey = new Survey();
  survey.readsRuled = context.dividesFiles?.read ?? false;
  survey.writesRuled = context.dividesFiles?.write ?? false;
  const roots: Root[] = [
    { name: "project", dir: context.projectDir },
    { name: "workspace", dir: context.workspaceDir },
  ];
  let closed = 0;
  for (const root of roots) closed += await surveyRoot(root, makeAsker(root, context), survey);
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

/** Gives the number of folders that were closed unseen. */
async function surveyRoot(root: Root, may: Asker, survey: Survey): Promise<number> {
  const top: Folder = { path: root.dir, relative: "", writable: may.write(PROBE) };
  if (top.writable) survey.writable.push(top.path);
  survey.readsRuled ||= USUAL.some((name) => !may.see(name));
  survey.writesRuled ||= USUAL.some((name) => may.write(name) !== top.writable);
  const waiting = [top];
  for (const [index, folder] of waiting.entries()) {
    const isRuled = survey.readsRuled || survey.writesRuled;
    if (survey.seen > (isRuled ? MOST : ENOUGH))
      return isRuled ? closeFolders(waiting.slice(index), survey) : 0;
    for (const entry of await listEntries(folder.path)) {
      const below = surveyEntry(entry, folder, { root, may, survey });
      if (below) waiting.push(below);
    }
  }
  return 0;
}

type Asker = { see(relative: string): boolean; write(relative: string): boolean };

/** Notes where an entry differs from its folder; gives a folder to continue with. */
function surveyEntry(
  entry: Dirent,
  folder: Folder,
  { root, may, survey }: { root: Root; may: Asker; survey: Survey },
): Folder | undefined {
  survey.seen++;
  const path = join(folder.path, entry.name);
  const relative = folder.relative === "" ? entry.name : `${folder.relative}/${entry.name}`;
  const isFolder = entry.isDirectory();
  if (!may.see(relative) || (isFolder && !may.see(`${relative}/${PROBE}`))) {
    survey.hidden.push(path);
    survey.readsRuled = true;
    return undefined;
  }
  if (entry.name === ".git") survey.histories.push(path);
  if (isProtected(path, root.dir) || !(isFolder || entry.isFile())) return undefined;
  const writable = may.write(isFolder ? `${relative}/${PROBE}` : relative);
  if (writable !== folder.writable) {
    (writable ? survey.writable : survey.readOnly).push(path);
    survey.writesRuled = true;
  }
  return isFolder && entry.name !== "node_modules" ? { path, relative, writable } : undefined;
}

function closeFolders(folders: readonly Folder[], survey: Survey): number {
  for (const { path, writable } of folders) {
    if (survey.readsRuled) survey.hidden.push(path);
    else if (writable) survey.readOnly.push(path);
  }
  return folders.length;
}

function makeAsker({ name, dir }: Root, context: Asked): Asker {
  const target = (relative: string, mode: "read" | "write"): Target => ({
    kind: "path",
    path: join(dir, relative),
    root: name,
    relative,
    mode,
  });
  return {
    see: (relative) => context.maySee(target(relative, "read")),
    write: (relative) => context.mayWrite(target(relative, "write")),
  };
}

function listEntries(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
