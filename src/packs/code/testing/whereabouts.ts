import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";
import { isBelow } from "../../../files/is-below.ts";
import type { CommandList, ProgramCall } from "../../../permissions/patterns/command-part.ts";

/** Where a command begins, and the two folders a run works in; absolute paths. */
export type Grounds = { cwd: string; projectDir: string; workspaceDir?: string | undefined };

/**
 * Where a shell stands: in a folder, by its absolute path; in one of several of the project (null); or elsewhere, which is
 * also said of a folder that cannot be told from the command.
 */
export type Place = string | null | "elsewhere";

/** What stands for a part of a path that is not known. */
const ANY = "*";
const EXPANSION = /\$\{(\w+)(?:%\/)?\}|\$(\w+)|\$\(([^()]*)\)|`([^`]*)`|\$\{[^}]*\}|\$\(.*\)/g;

/** Follows a shell command through the folders that it enters. */
export class Whereabouts {
  readonly #grounds: Grounds;
  readonly #places = new Map<CommandList, { here: Place; before: Place }>();
  /** What variables may hold; absent if that is not known. */
  readonly #variables = new Map<string, readonly string[]>();

  constructor(command: string, grounds: Grounds) {
    this.#grounds = grounds;
    for (const [, name = "", list = ""] of command.matchAll(/\bfor\s+(\w+)\s+in\s+([^;\n]+)/g))
      this.#assign(name, list.trim().split(/\s+/), grounds.cwd);
  }

  /** Takes note of what one call of the command does to the folder and to variables. */
  follow({ words, assignments, list }: ProgramCall): void {
    const [program, ...args] = words.map(({ value }) => value);
    const { here, before } = this.#standing(list);
    const isSetting = program === undefined || /^(?:export|local|readonly|declare)$/.test(program);
    for (const text of isSetting ? [...assignments.map(({ value }) => value), ...args] : []) {
      const [, name, value = ""] = /^(\w+)=(.*)$/s.exec(text) ?? [];
      if (name !== undefined) this.#assign(name, [value], here);
    }
    if (program !== "cd" && program !== "pushd" && program !== "popd") return;
    const to = args.find((arg) => !/^-./.test(arg)) ?? (program === "cd" ? "~" : "-");
    this.#places.set(list, { here: to === "-" ? before : this.resolve(here, to), before: here });
  }

  /** Where the calls of a list run. */
  placeIn(list: CommandList): Place {
    return this.#standing(list).here;
  }

  /** The place that a path means, seen from another. */
  resolve(from: Place, path: string): Place {
    const paths = this.#expand(path, from).flatMap((one) => {
      if (one.startsWith(ANY)) return ["elsewhere" as const];
      if (isAbsolute(one)) return [this.#judge(one)];
      return [from === null || from === "elsewhere" ? from : this.#judge(resolve(from, one))];
    });
    if (paths.includes("elsewhere")) return "elsewhere";
    const [only = null] = new Set(paths);
    return new Set(paths).size === 1 ? only : null;
  }

  /** A place as the names of suites say it; null if it has no name. */
  name(place: Place): string | null {
    if (place === null || place === "elsewhere") return null;
    const { projectDir, workspaceDir } = this.#grounds;
    if (workspaceDir !== undefined && isBelow(place, workspaceDir))
      return join("the workspace", relative(workspaceDir, place));
    return relative(projectDir, place);
  }

  #judge(path: string): Place {
    const { projectDir, workspaceDir } = this.#grounds;
    const at = path.indexOf(ANY);
    // What is not known of a path lies below what is known.
    const known = resolve(at < 0 ? path : path.slice(0, path.lastIndexOf("/", at) + 1));
    const isInside = [projectDir, workspaceDir].some((root) => root !== undefined && isBelow(known, root));
    if (!isInside) return "elsewhere";
    return at < 0 ? known : null;
  }

  #standing(list: CommandList): { here: Place; before: Place } {
    const own = this.#places.get(list);
    if (own) return own;
    if (list.above) return this.#standing(list.above);
    const here = this.#judge(this.#grounds.cwd);
    return { here, before: here };
  }

  #assign(name: string, values: readonly string[], here: Place): void {
    this.#variables.set(
      name,
      values.flatMap((value) => this.#expand(value.replace(/^(["'])(.*)\1$/, "$2"), here)),
    );
  }

  /** What a word may stand for. */
  #expand(word: string, here: Place): string[] {
    const text = word.replace(/^~(?=\/|$)/, homedir());
    const found = [...text.matchAll(EXPANSION)][0];
    if (!found) return [text];
    const [written, braced, bare, script, quoted] = found;
    const values = this.#lookUp(braced ?? bare, script ?? quoted, here);
    const [front, back] = [text.slice(0, found.index), text.slice(found.index + written.length)];
    return values.flatMap((value) => this.#expand(`${front}${value}${back}`, here)).slice(0, 100);
  }

  #lookUp(variable: string | undefined, script: string | undefined, here: Place): readonly string[] {
    const isHere = variable === "PWD" || script?.trim() === "pwd";
    if (isHere && here !== null && here !== "elsewhere") return [here];
    if (script && /^\s*git rev-parse --show-toplevel\s*(?:2>\S+\s*)?$/.test(script))
      return [this.#grounds.projectDir];
    if (variable === "HOME") return [homedir()];
    return (variable !== undefined && this.#variables.get(variable)) || [ANY];
  }
}
