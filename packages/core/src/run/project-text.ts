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
  readonly #keep: () => void;
  #hasEntered = false;

  /** `keep` is called once, before anything can act on the text, so that the session knows of it in another process as well. */
  constructor({ isTrusted, keep }: { isTrusted: boolean; keep: () => void }) {
    this.#isTrusted = isTrusted;
    this.#keep = keep;
  }

  /** Whether such text may steer the session. */
  get hasEntered(): boolean {
    return this.#hasEntered && !this.#isTrusted;
  }

  enter(): void {
    if (this.#hasEntered) return;
    this.#hasEntered = true;
    this.#keep();
  }
}

/** Whether the answer to a call may hold text of the project; one that failed may name files that are there. */
export function tellsOfProject(
  { tool, targets }: { readonly tool: Pick<AnyTool, "groups">; readonly targets: readonly Target[] },
  isError: boolean,
): boolean {
  if (tool.groups.some((group) => IN_PROJECT.has(group))) return true;
  const isTold = (target: Target) =>
    target.kind === "path" && target.root !== "workspace" && (target.mode === "read" || isError);
  return targets.some(isTold);
}
