import { homedir, tmpdir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";
import { isBelow } from "@retinue/core/files/is-below";
import type { CommandList, ProgramCall } from "@retinue/core/rights/patterns/command-part";

/** Where a command begins, and the two folders a run works in; absolute paths. */
export type Grounds = { cwd: string; projectDir: string; workspaceDir?: string | undefined };

/** A folder or file by its absolute path, with a mark where a part of that is not known; null if nothing of it is known. */
type ShellPlace = string | null;

type Standing = {
  readonly here: ShellPlace;
  /** What `cd -` leads to. */
  readonly before: ShellPlace;
  /** What `popd` leads to, the next one first. */
  readonly pushed: readonly ShellPlace[];
  /** Right behind a `cd`: where the shell stands if that fails. */
  readonly unmoved?: Standing | undefined;
  /** In what runs if a `cd` fails: where the shell stands if it does not. */
  readonly moved?: Standing | undefined;
};

/** What stands for a part of a path that is not known. */
const UNKNOWN = "\0";
const EXPANSION =
  /\$\{(\w+)(?:%\/|:?-[^}]*)?\}|\$(\w+)|\$\(([^()]*)\)|`([^`]*)`|\$\{[^}]*\}|\$\((?:[^()]|\([^()]*\))*\)|\$[@*#?!$-]/;
const LIST_WORD = /(?:\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|"[^"]*"|'[^']*'|\S)+/g;

/** Follows a shell command through the folders that it enters. */
export class Whereabouts {
  readonly #grounds: Grounds;
  readonly #standings = new Map<CommandList, Standing>();
  /** What variables may hold; absent if that is not known. */
  readonly #variables = new Map<string, readonly string[]>();
  /** Where the last call starts a program, such as `env -C`. */
  #started: { list: CommandList; here: ShellPlace } | undefined;

  constructor(command: string, grounds: Grounds) {
    this.#grounds = grounds;
    for (const [, name = "", list = ""] of command.matchAll(/\bfor\s+(\w+)\s+in\s+([^;\n]+)/g))
      this.#assign(name, list.match(LIST_WORD) ?? [], this.#stand(null));
  }

  /** Takes note of what one call of the command does to the folder and to variables. */
  follow({ words, assignments, list, isFallback }: ProgramCall): void {
    const [program, ...args] = words.map(({ value }) => value);
    const standing = this.#enter(list, { isFallback, isEnd: program === "exit" || program === "return" });
    this.#standings.set(list, standing);
    const isSetting = program === undefined || /^(?:export|local|readonly|declare)$/.test(program);
    for (const text of isSetting ? [...assignments.map(({ value }) => value), ...args] : []) {
      const [, name, value = ""] = /^(\w+)=(.*)$/s.exec(text) ?? [];
      if (name !== undefined) this.#assign(name, [value], standing);
    }
    const folder = findStartFolder(program, args);
    this.#started = folder === undefined ? undefined : { list, here: this.#resolve(standing, folder) };
    const to = args.find((arg) => !/^-./.test(arg));
    const moved = this.#move(standing, program, to);
    if (moved) this.#standings.set(list, { ...moved, before: standing.here, unmoved: standing });
  }

  /** Where the calls of a list run. */
  placeIn(list: CommandList): ShellPlace {
    return this.#stand(list).here;
  }

  /** The place that a path means, in a list whose calls run at another. */
  resolve(list: CommandList, from: ShellPlace, path: string): ShellPlace {
    return this.#resolve({ ...this.#stand(list), here: from }, path);
  }

  /** Whether a place is known to be in neither the project nor the workspace. */
  isOutside(place: ShellPlace): boolean {
    if (place === null) return false;
    const [known = ""] = place.split(UNKNOWN, 1);
    const { projectDir, workspaceDir = projectDir } = this.#grounds;
    return [projectDir, workspaceDir].every(
      (root) => !isBelow(known, root) && (known === place || !root.startsWith(known)),
    );
  }

  /** A place as the names of suites say it; null if it has no name. */
  name(place: ShellPlace): string | null {
    if (place === null || /[*?[{\0]/.test(place) || this.isOutside(place)) return null;
    const { projectDir, workspaceDir } = this.#grounds;
    if (workspaceDir !== undefined && isBelow(place, workspaceDir))
      return join("the workspace", relative(workspaceDir, place));
    return relative(projectDir, place);
  }

  #stand(list: CommandList | null): Standing {
    for (let at = list; at; at = at.above) {
      const standing = this.#standings.get(at);
      if (standing) return standing;
    }
    const { cwd } = this.#grounds;
    return { here: cwd, before: cwd, pushed: [] };
  }

  /** Where the next call of a list runs. */
  #enter(list: CommandList, { isFallback, isEnd }: { isFallback: boolean; isEnd: boolean }): Standing {
    const standing = this.#stand(list);
    if (this.#started && this.#started.list === list.above) return { ...standing, here: this.#started.here };
    if (isFallback && standing.unmoved) return isEnd ? standing : { ...standing.unmoved, moved: standing };
    if (isEnd && standing.moved) return standing.moved;
    return { ...standing, unmoved: undefined };
  }

  #move(standing: Standing, program: string | undefined, to: string | undefined): Standing | null {
    const { here, before, pushed } = standing;
    const [top = here, ...rest] = pushed;
    if (program === "popd") return { ...standing, here: top, pushed: rest };
    if (program === "pushd" && to === undefined) return { ...standing, here: top, pushed: [here, ...rest] };
    if (program !== "cd" && program !== "pushd") return null;
    return {
      ...standing,
      here: to === "-" ? before : this.#resolve(standing, to ?? "~"),
      pushed: program === "cd" ? pushed : [here, ...pushed],
    };
  }

  #resolve(standing: Standing, path: string): ShellPlace {
    const places = this.#expand(path, standing).map((one) => {
      if (isAbsolute(one)) return resolve(one);
      return standing.here === null || one.startsWith(UNKNOWN) ? null : resolve(standing.here, one);
    });
    const [first = null] = places;
    const isOne = new Set(places).size === 1 || places.every((place) => this.isOutside(place));
    return isOne ? first : null;
  }

  #assign(name: string, values: readonly string[], standing: Standing): void {
    this.#variables.set(
      name,
      values.flatMap((value) => this.#expand(value.replace(/^(["'])(.*)\1$/, "$2"), standing)),
    );
  }

  /** What a word may stand for. */
  #expand(word: string, standing: Standing): string[] {
    const text = word.replace(/^~(?=\/|$)/, homedir());
    const found = EXPANSION.exec(text);
    if (!found) return [text];
    const [written, braced, bare, script, quoted] = found;
    const variable = braced ?? bare;
    const command = (script ?? quoted)?.trim();
    const values =
      variable === undefined ? this.#predict(command ?? "", standing) : this.#lookUp(variable, standing);
    const [front, back] = [text.slice(0, found.index), text.slice(found.index + written.length)];
    const ends = this.#expand(back, standing);
    return values.flatMap((value) => ends.map((end) => `${front}${value}${end}`)).slice(0, 100);
  }

  #lookUp(variable: string, { here, before }: Standing): readonly string[] {
    if (variable === "PWD") return [here ?? UNKNOWN];
    if (variable === "OLDPWD") return [before ?? UNKNOWN];
    const set = this.#variables.get(variable);
    if (set) return set;
    if (variable === "HOME") return [homedir()];
    return [variable === "TMPDIR" ? tmpdir() : UNKNOWN];
  }

  /** What a command prints that only names a folder. */
  #predict(command: string, standing: Standing): readonly string[] {
    const script = command.replace(/\s*2>\s*\S+$/, "").replace(/["']/g, "");
    if (script === "pwd") return this.#lookUp("PWD", standing);
    if (script === "git rev-parse --show-toplevel") return [this.#grounds.projectDir];
    const [isMade, flags = "", template] =
      /^mktemp((?: -[dqtp]+| --directory)*)(?: (\S+))?$/.exec(script) ?? [];
    if (isMade === undefined) return [UNKNOWN];
    if (template !== undefined && !flags.includes("t")) return this.#expand(template, standing);
    return this.#lookUp("TMPDIR", standing).map((folder) => join(folder, "mktemp"));
  }
}

/** The folder in which a program starts another one. */
function findStartFolder(program: string | undefined, args: readonly string[]): string | undefined {
  if (program === "chroot") return args.find((arg) => !arg.startsWith("-"));
  const flag = program === "env" ? "-C" : program === "sudo" ? "-D" : undefined;
  const at = flag === undefined ? -1 : args.findIndex((arg) => arg === flag || arg.startsWith("--chdir="));
  const isOwn = args.slice(0, Math.max(at, 0)).every((arg) => /^-|=/.test(arg));
  return at < 0 || !isOwn ? undefined : args[at] === flag ? args[at + 1] : args[at]?.slice("--chdir=".length);
}
