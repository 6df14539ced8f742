import type { Target } from "../schema/rights.ts";
import type { AnyTool } from "../tools/tool.ts";

/** Groups of tools whose answers hold what lies in the project, whatever they name. */
const IN_PROJECT: ReadonlySet<string> = new Set(["git", "shell", "test"]);

/**
 * Whether text that lies in the project has entered a session: files, instructions such as AGENTS.md, an agent of the
 * project. Anybody may have written it, as in a cloned repository, so nothing leaves on its word without a person. A project
 * that the person trusts is the person's own word.
 */
export class ProjectText {
  readonly #isTrusted: boolean;
  #hasEntered = false;

  constructor(isTrusted: boolean) {
    this.#isTrusted = isTrusted;
  }

  get hasEntered(): boolean {
    return this.#hasEntered;
  }

  enter(): void {
    this.#hasEntered = !this.#isTrusted;
  }
}

/** Whether the answer to a call may hold text of the project. */
export function readsProject({ groups }: Pick<AnyTool, "groups">, targets: readonly Target[]): boolean {
  if (groups.some((group) => IN_PROJECT.has(group))) return true;
  return targets.some(
    (target) => target.kind === "path" && target.mode === "read" && target.root !== "workspace",
  );
}

/** Whether others than the person may have a say in what a run does: through the web, mail and the like, or the project. */
export function mayBeSteered(
  { tainted }: { readonly tainted: boolean },
  { projectText }: { readonly projectText: ProjectText },
): boolean {
  return tainted || projectText.hasEntered;
}
