import type { SearchSettings } from "../schema/settings.ts";

/** A project may keep searches local, and choose among its own folders where the user chose none. */
export function narrowSearch(search: SearchSettings, by: Partial<SearchSettings>): SearchSettings {
  const { provider, folders } = by;
  const isProjects = search.folders.every((folder) => folder === ".");
  return {
    ...search,
    ...(provider === "local" && { provider }),
    ...(folders && isProjects && { folders }),
  };
}

/** The keys of a project's `search` section that would send searches elsewhere or look outside of the project. */
export function wideningInSearch(search: Readonly<Record<string, unknown>>): string[] {
  const { provider, folders, url, keyEnv, key } = search;
  return [
    ...(provider !== undefined && provider !== "local" ? ["provider"] : []),
    ...(Array.isArray(folders) && folders.some(leavesProject) ? ["folders"] : []),
    ...Object.entries({ url, keyEnv, key }).flatMap(([name, value]) => (value === undefined ? [] : [name])),
  ];
}

/** Whether a path of a project's settings, by its words alone, points out of the project. */
export function leavesProject(path: unknown): boolean {
  return typeof path === "string" && (/^[/\\~]|^[a-z]:/i.test(path) || path.split(/[/\\]/).includes(".."));
}
