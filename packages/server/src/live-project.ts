import { loadProject, type Project, type ProjectOptions } from "@retinue/builtin/load-project";
import type { ParsedFiles } from "@retinue/core/agents/load-agents";
import type { AgentRegistry } from "@retinue/core/agents/registry";

/** The project as it is on disk now. Agents are read again before they are listed and before anything begins. */
export type LiveProject = ReturnType<typeof createLiveProject>;

/** A project that is read again while the server runs; running agents keep what they began with. */
export function createLiveProject(options: ProjectOptions, loaded: Project) {
  const parsed: ParsedFiles = new Map();
  let current = loaded;
  let reading: Promise<Project> | null = null;
  let next: Promise<Project> | null = null;
  const read = () => {
    reading = loadProject({ ...options, parsed })
      .then((project) => {
        current = project;
        return project;
      })
      .finally(() => {
        reading = null;
      });
    return reading;
  };
  return {
    projectDir: options.projectDir,
    /** As last read. */
    current: () => current,
    /** Who asks while it is being read may have changed a file since: all of them share the reading after it. */
    reload(): Promise<Project> {
      if (!reading) return read();
      next ??= reading
        .catch(() => {})
        .then(() => {
          next = null;
          return read();
        });
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
    getBroken: (name) => now().getBroken(name),
    unknownAgentMessage: (name, among) => now().unknownAgentMessage(name, among),
    get disabled() {
      return now().disabled;
    },
    get broken() {
      return now().broken;
    },
    get shadowed() {
      return now().shadowed;
    },
    get problems() {
      return now().problems;
    },
  };
}
