import { lstatSync, readdirSync, readFileSync, readlinkSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { isBelow } from "../files/is-below.ts";
import { readCommand } from "../rights/patterns/split-command.ts";
import { namedLayer } from "../rights/protected-layer.ts";
import { tryTo } from "../schema/error.ts";
import type { Layer } from "../schema/rights.ts";
import type { HostPlaces } from "../tools/tool.ts";

/** A place that git reads settings from or runs programs of, besides its own folder. */
export type GitPlace = {
  /** Real, but for a link that leads to the place: who changes that leads git elsewhere. */
  readonly path: string;
  /** A setting and its file, as a person would name them. */
  readonly namedBy: string;
  /** Git reads it as settings, and fails if that is no file. */
  readonly isSettings: boolean;
};

/** Where the settings of all the user's repositories are. */
export type GitHome = { readonly homeDir: string; readonly configHome?: string | undefined };

/** The same by the environment of the process. */
export function findGitHome({ homeDir, env }: Pick<HostPlaces, "homeDir" | "env">): GitHome {
  return { homeDir, configHome: env.XDG_CONFIG_HOME || undefined };
}

/** One repository: `top` is where its hooks and programs start. */
type Repository = { readonly top: string; readonly gitDirs: readonly string[] };

const MOST_BYTES = 1_048_576;
const MOST_POINTER_BYTES = 4_096;
/** As deep as git follows includes. */
const MOST_INCLUDES = 10;
const MOST_FILES = 200;
const MOST_LINKS = 40;
const MOST_CACHED = 500;

/** Settings whose value is a path. */
const PATHS = new Set([
  "core.hookspath",
  "core.attributesfile",
  "init.templatedir",
  "gpg.ssh.allowedsignersfile",
  "gpg.ssh.revocationfile",
]);
const INCLUDE = /^(include|includeif\..*)\.path$/s;
/** Settings whose value is a command, by their last name; of some only with a sign that it is one. */
const COMMANDS = new Set(
  (
    "alternaterefscommand askpass clean cmd command defaultkeycommand difffilter driver editor external fsmonitor " +
    "gitproxy helper packobjectshook pager process program receivepack smudge sshcommand textconv tunnel uploadpack"
  ).split(" "),
);
const PROGRAM_PATH = /^(difftool|mergetool|browser|man)\..*\.path$/s;
/** Programs whose first operand is the program that really runs. */
const INTERPRETERS =
  /^(\.|source|[a-z]*sh|node|nodejs|deno|bun|tsx|ts-node|python[\d.]*|ruby|perl|php|lua|pwsh|run)$/;
/** What git looks for among its hooks, where the folder holds all the rest of a project as well. */
const HOOKS = (
  "applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit prepare-commit-msg commit-msg post-commit " +
  "pre-rebase post-checkout post-merge pre-push pre-receive update proc-receive post-receive post-update " +
  "reference-transaction push-to-checkout pre-auto-gc post-rewrite sendemail-validate fsmonitor-watchman " +
  "p4-changelist p4-prepare-changelist p4-post-changelist p4-pre-submit post-index-change"
).split(" ");

/** The `.git` of a folder and of those around it. */
export function findRepositoriesAround(folder: string): string[] {
  const found: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    if (lookAt(join(at, ".git"))) found.push(join(at, ".git"));
    if (at === dirname(at)) return found;
  }
}

/**
 * The repositories that a change of some files in a project may concern, without a look through all of it: around the
 * project, right in its folders, and around the files.
 */
export function findRepositories(projectDir: string, paths: readonly string[]): string[] {
  const around = [projectDir, ...paths.map((path) => dirname(path))].flatMap(findRepositoriesAround);
  const inside = listPaths(projectDir).map((folder) => join(folder, ".git"));
  return [...new Set([...around, ...inside.filter((path) => lookAt(path))])];
}

/**
 * The places below one of `roots` that the settings of repositories name, whether or not there is something yet. A
 * repository is given by its `.git`, or a bare one by its folder. Conditions of includes count as true: they may be next time.
 */
export function readGitPlaces(
  repositories: readonly string[],
  roots: readonly string[],
  { homeDir, configHome = join(homeDir, ".config") }: GitHome,
): GitPlace[] {
  const places = new Map<string, GitPlace>();
  const users = ["/etc/gitconfig", join(configHome, "git", "config"), join(homeDir, ".gitconfig")];
  const add = (path: string, namedBy: string, { isSettings = false, isFolder = false } = {}) => {
    const { real, links } = followLinks(path);
    const around = roots.filter((root) => isBelow(root, real));
    // The folder of the hooks is the project itself, or lies around it.
    const meant = around.length > 0 ? (isFolder ? HOOKS.map((name) => join(real, name)) : []) : [real];
    for (const each of [...meant, ...links])
      if (!places.has(each) && roots.some((root) => isIn(root, each)))
        places.set(each, { path: each, namedBy, isSettings });
  };
  const show = (file: string) => {
    const root = roots.find((each) => isBelow(file, each));
    return root === undefined ? file : relative(root, file);
  };
  const opened = repositories.flatMap(openRepository);
  // The user's own settings count without any repository as well.
  for (const { top, gitDirs } of opened.length > 0 ? opened : [{ top: roots[0] ?? "/", gitDirs: [] }]) {
    const own = gitDirs.flatMap((folder) => [join(folder, "config"), join(folder, "config.worktree")]);
    const files = [...users, ...own].map((file) => ({ file, depth: 0 }));
    for (const { file, depth } of files) {
      if (depth === 0) add(file, "git's own settings", { isSettings: true });
      for (const { key, value } of readSettings(file)) {
        const namedBy = `${key} in ${show(file)}`;
        const locate = (written: string, base: string) => locatePath(written, base, homeDir);
        if (INCLUDE.test(key.toLowerCase())) {
          const included = locate(value, dirname(file));
          if (included === undefined || depth >= MOST_INCLUDES || files.length >= MOST_FILES) continue;
          add(included, namedBy, { isSettings: true });
          files.push({ file: included, depth: depth + 1 });
          continue;
        }
        for (const written of findNamed(key.toLowerCase(), value, top)) {
          const path = locate(written, top);
          if (path === undefined) continue;
          const isFolder = /^(core\.hookspath|init\.templatedir)$/i.test(key);
          // Husky's own folder only calls the hooks that are beside it.
          add(isFolder && basename(path) === "_" ? dirname(path) : path, namedBy, { isFolder });
        }
      }
    }
    for (const hooks of gitDirs.map((folder) => join(folder, "hooks")))
      for (const hook of [hooks, ...listPaths(hooks)])
        if (lookAt(hook)?.isSymbolicLink()) add(hook, `the link ${show(hook)}`, { isFolder: true });
  }
  return [...places.values()];
}

/** Whether a path lies in a folder, and not among git's own files, which are closed anyway. */
function isIn(root: string, path: string): boolean {
  return path !== root && isBelow(path, root) && !relative(root, path).split(sep).includes(".git");
}

/** What a setting names: a path, or the programs of a command that are files. */
function findNamed(key: string, value: string, top: string): string[] {
  if (key === "core.fsmonitor" && /^(true|false|yes|no|on|off|[01]?)$/i.test(value)) return [];
  if (PROGRAM_PATH.test(key) || PATHS.has(key)) return [value];
  const isCommand = COMMANDS.has(key.slice(key.lastIndexOf(".") + 1)) || key.startsWith("pager.");
  if (!isCommand && !value.startsWith("!")) return [];
  const names = readCommand(value.replace(/^!/, "")).calls.flatMap(({ words }) => {
    const [program = "", ...operands] = words.map((word) => word.value);
    const script = INTERPRETERS.test(basename(program)) && operands.find((word) => !word.startsWith("-"));
    return [...(program.includes("/") ? [program] : []), ...(script ? [script] : [])];
  });
  // Older settings give a path with blanks in it as it is.
  return value.includes(" ") && lookAt(resolve(top, value)) ? [...names, value] : names;
}

/** An absolute path; undefined for one that only git itself can tell. */
function locatePath(written: string, base: string, homeDir: string): string | undefined {
  const path = written.replace(/^:\(optional\)/, "").replace(/^(\$HOME|\$\{HOME\})(?=\/)/, "~");
  if (path === "" || path.includes("\0") || path.startsWith("%(")) return undefined;
  if (path === "~" || path.startsWith("~/")) return join(homeDir, path.slice(1));
  return isAbsolute(path) ? resolve(path) : resolve(base, path);
}

/** Opens what a `.git` stands for, or a bare repository; nothing if it is neither. */
function openRepository(path: string): Repository[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  const isBare = basename(path) !== ".git";
  const top = isBare ? path : dirname(path);
  const gitDir = stats?.isFile() ? readPointer(path, top, "gitdir: ") : path;
  if (!stats || gitDir === undefined) return [];
  const commonDir = isBare ? gitDir : (readPointer(join(gitDir, "commondir"), gitDir) ?? gitDir);
  return [{ top, gitDirs: [...new Set([commonDir, gitDir])] }];
}

/** The path that a small file names. */
function readPointer(file: string, base: string, prefix = ""): string | undefined {
  const text = readSmall(file, MOST_POINTER_BYTES);
  return text?.startsWith(prefix) ? resolve(base, text.slice(prefix.length).trim()) : undefined;
}

const cache = new Map<string, { state: string; settings: readonly GitSetting[] }>();

/** The settings of one file, parsed again only if it has changed. */
function readSettings(file: string): readonly GitSetting[] {
  const stats = tryTo(() => statSync(file, { throwIfNoEntry: false }));
  if (!stats?.isFile()) return [];
  const state = [stats.dev, stats.ino, stats.size, stats.mtimeMs, stats.ctimeMs].join(" ");
  const known = cache.get(file);
  if (known?.state === state) return known.settings;
  const settings = parseGitConfig(readSmall(file, MOST_BYTES) ?? "");
  if (cache.size >= MOST_CACHED) cache.clear();
  cache.set(file, { state, settings });
  return settings;
}

/** Where a path leads although parts of it may be missing, and the links on the way. */
function followLinks(path: string): { real: string; links: string[] } {
  const links: string[] = [];
  let real = "/";
  const names = path.split(sep).filter(Boolean);
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    const next = join(real, name);
    if (links.length < MOST_LINKS && lookAt(next)?.isSymbolicLink()) {
      links.push(next);
      names.unshift(
        ...resolve(real, tryTo(() => readlinkSync(next)) ?? "")
          .split(sep)
          .filter(Boolean),
      );
      real = "/";
    } else real = next;
  }
  return { real, links };
}

function readSmall(file: string, most: number): string | undefined {
  return tryTo(() => {
    const stats = statSync(file);
    return stats.isFile() && stats.size <= most ? readFileSync(file, "utf8") : undefined;
  });
}

/** What is at a path, not followed; undefined if nothing, or if it cannot be looked at. */
function lookAt(path: string): Stats | undefined {
  return tryTo(() => lstatSync(path, { throwIfNoEntry: false }));
}

function listPaths(folder: string): string[] {
  const names = tryTo(() => readdirSync(folder)) ?? [];
  return names.map((name) => join(folder, name));
}

/** One setting: `section.subsection.name`, with the case in which it was written. */
export type GitSetting = { readonly key: string; readonly value: string };

const SECTION = /^\s*\[\s*([\w.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/;
const NAME = /^\s*([A-Za-z][\w-]*)[ \t]*(=?)/;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", b: "\b" };

/** Reads the settings in a file of git's, as git does; what it would refuse is left out. */
export function parseGitConfig(text: string): GitSetting[] {
  const settings: GitSetting[] = [];
  let rest = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  let section = "";
  while (rest !== "") {
    const head = SECTION.exec(rest);
    if (head) {
      section = head[2] === undefined ? (head[1] ?? "") : `${head[1]}.${head[2].replace(/\\(.)/gs, "$1")}`;
      rest = rest.slice(head[0].length);
      continue;
    }
    const name = NAME.exec(rest);
    if (!name) {
      // A comment, an empty line, or something that is no setting.
      const end = rest.search(/\S/) === -1 ? -1 : rest.indexOf("\n", rest.search(/\S/));
      rest = end === -1 ? "" : rest.slice(end + 1);
      continue;
    }
    const { value, length } = readValue(rest.slice(name[0].length));
    settings.push({ key: `${section}.${name[1]}`, value: name[2] === "" ? "true" : value });
    rest = rest.slice(name[0].length + length);
  }
  return settings;
}

/** A value up to the end of its line: quotes, escapes, comments, and lines that go on in the next one. */
function readValue(text: string): { value: string; length: number } {
  let value = "";
  let blanks = "";
  let isQuoted = false;
  let at = 0;
  for (; at < text.length; at++) {
    const character = text[at] ?? "";
    if (character === "\n") break;
    if (!isQuoted && (character === "#" || character === ";")) {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end;
      break;
    }
    if (!isQuoted && /\s/.test(character)) {
      blanks += value === "" ? "" : character;
      continue;
    }
    if (character === '"') {
      isQuoted = !isQuoted;
      continue;
    }
    value += blanks;
    blanks = "";
    if (character !== "\\") value += character;
    else {
      at++;
      const escaped = text[at] ?? "";
      if (escaped !== "\n") value += ESCAPES[escaped] ?? escaped;
    }
  }
  return { value, length: at };
}

/**
 * What git's settings close to every agent, as they are now: folders of hooks, included settings, programs. `writes` are
 * files that are to be written, each perhaps in a repository of its own. Commands are not asked about here: a sandbox finds
 * out for itself, in all repositories of the project.
 */
export function layersByGit(projectDir: string, writes: readonly string[], home: GitHome): readonly Layer[] {
  if (writes.length === 0) return [];
  const places = readGitPlaces(findRepositories(projectDir, writes), [projectDir], home);
  return places.length > 0 ? [namedLayer(places)] : [];
}
