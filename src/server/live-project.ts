import type { AgentRegistry } from "../agents/registry.ts";
import { loadProject, type Project, type ProjectOptions } from "../runtime/project/load-project.ts";
import type { LiveProject } from "./desk.ts";

/** A project that is read again while the server runs. */
export function createLiveProject(options: ProjectOptions, loaded: Project): LiveProject {
  let current = loaded;
  let last: Promise<unknown> = Promise.resolve();
  return {
    projectDir: options.projectDir,
    current: () => current,
    // One after the other, so that what was read last is also what holds.
    reload() {
      const next = last.then(async () => {
        current = await loadProject(options);
        return current;
      });
      last = next.catch(() => {});
      return next;
    },
  };
}

/** The agents of a project as last read; a run that has begun keeps the definition it began with. */
export function liveRegistry(project: Pick<LiveProject, "current">): AgentRegistry {
  const now = () => project.current().registry;
  return {
    list: () => now().list(),
    get: (name) => now().get(name),
    isDisabled: (name) => now().isDisabled(name),
    isBroken: (name) => now().isBroken(name),
    unknownAgentMessage: (name, among) => now().unknownAgentMessage(name, among),
    get disabled() {
      return now().disabled;
    },
    get shadowed() {
      return now().shadowed;
    },
    get problems() {
      return now().problems;
    },
  };
}
