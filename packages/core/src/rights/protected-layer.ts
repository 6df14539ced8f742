import type { Layer, Rule } from "../schema/rights.ts";
import { escapeGlob } from "./rule.ts";

/** The folders that Retinue itself lives in. */
export type ProtectedFolders = {
  readonly dataDir: string;
  readonly configDir: string;
  readonly homeDir: string;
  /** Folders below `dataDir` that this run works in, such as a worktree; its session workspace is open anyway. */
  readonly open?: readonly string[];
  /** Files elsewhere that agents are made of, such as prompts of roles. */
  readonly definitions?: readonly string[];
};

/** Agent files, settings, hooks and servers of every vendor, at any depth, and all of git's own files. */
export const PROTECTED_DEFINITIONS: readonly string[] = [
  "**/.retinue",
  "**/.claude",
  "**/.opencode",
  "**/opencode.{json,jsonc}",
  "**/.github/agents",
  "**/.github/copilot*",
  "**/.gemini",
  "**/.copilot",
  "**/.mcp.json",
  "**/.vscode/mcp.json",
  "**/prompts/roles",
  "**/.git",
];

const AT_HOME = [".claude.json", ".config/opencode", ".config/git", ".gitconfig"];

/**
 * What no agent may touch, by whatever tool: it may write neither agent files nor settings, and of Retinue's data
 * folder, where the database and other sessions are, it may not even read.
 */
export function protectedLayer(places: ProtectedFolders): Layer {
  const { dataDir, configDir, homeDir, open = [] } = places;
  const definitions = PROTECTED_DEFINITIONS.map(
    (pattern): Rule => ({ text: pattern, tool: "*", pattern, mode: "write" }),
  );
  const folders = [
    configDir,
    ...(places.definitions ?? []),
    ...AT_HOME.map((path) => `${homeDir}/${path}`),
  ].map((path): Rule => ({ text: path, tool: "*", pattern: escapeGlob(path), mode: "write" }));
  const except = ["workspace:**", ...open.map(escapeGlob)];
  const data = (["write", "read"] as const).map(
    (mode): Rule => ({ text: dataDir, tool: "*", pattern: escapeGlob(dataDir), mode, except }),
  );
  return { name: NAME, ask: [], deny: [...data, ...definitions, ...folders] };
}

/** The same for places of a project that somebody's settings name: each with the setting that does. */
export function namedLayer(places: readonly { readonly path: string; readonly namedBy: string }[]): Layer {
  const deny = places.map(
    ({ path, namedBy }): Rule => ({
      text: `${path} (named by ${namedBy}, so only a person changes it)`,
      tool: "*",
      pattern: escapeGlob(path),
      mode: "write",
    }),
  );
  return { name: NAME, ask: [], deny };
}

const NAME = "protected files";

/** The chain of a run whose project is a folder of its own below the data folder: of all that is there, only this is open. */
export function openingFor(chain: readonly Layer[], folder: string): Layer[] {
  const except = ["workspace:**", escapeGlob(folder)];
  return chain.map((layer) =>
    layer.name === NAME
      ? { ...layer, deny: layer.deny.map((rule) => (rule.except ? { ...rule, except } : rule)) }
      : layer,
  );
}
