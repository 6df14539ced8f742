import { spawn } from "node:child_process";
import { join } from "node:path";
import { decide } from "@retinue/core/rights/decide";
import { parseRules } from "@retinue/core/rights/rule";
import type { OpenProject } from "../open-project.ts";

const MOST_FILES = 20_000;
const MOST_BYTES = 8_000_000;
const LIST_MS = 10_000;
/** The listing of `glob`: ignore files honoured, hidden files and links passed over, nobody's configuration. */
const ARGS = [
  "--files",
  "--no-config",
  "--no-messages",
  "--no-require-git",
  "--no-ignore-global",
  "--null",
  "--sort=path",
  "--glob=!**/node_modules",
  "--glob=!**/.git",
  "--",
  ".",
];

/** Names of the project's files that may be mentioned, without those that the settings deny to every agent. */
export async function listProjectFiles({ projectDir, settings, places }: OpenProject): Promise<string[]> {
  const layer = {
    name: "settings",
    ask: [],
    deny: parseRules(settings.permissions.deny, "permissions.deny", places.homeDir),
  };
  const mayRead = (relative: string) => {
    const target = {
      kind: "path",
      path: join(projectDir, relative),
      root: "project",
      relative,
      mode: "read",
    } as const;
    return decide([layer], { tool: "read", groups: ["filesystem"], targets: [target] }).verdict !== "deny";
  };
  const names = await filesBelow(projectDir);
  return names.filter((name) => !/\p{Cc}|\s/u.test(name) && mayRead(name)).slice(0, MOST_FILES);
}

async function filesBelow(root: string): Promise<string[]> {
  const { rgPath } = await import("@vscode/ripgrep");
  const child = spawn(rgPath, ARGS, {
    cwd: root,
    env: {},
    stdio: ["ignore", "pipe", "ignore"],
    signal: AbortSignal.timeout(LIST_MS),
    killSignal: "SIGKILL",
  });
  let listed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    listed += text;
    if (listed.length > MOST_BYTES) child.kill("SIGKILL");
  });
  await new Promise<void>((resolve) => {
    child.once("close", () => resolve());
    child.once("error", () => resolve());
  });
  return listed
    .split("\0")
    .map((name) => name.replace(/^\.[/\\]/, "").replaceAll("\\", "/"))
    .filter(Boolean);
}
