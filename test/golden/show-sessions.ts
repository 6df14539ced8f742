import { join } from "node:path";
import type { Line } from "./read-record.ts";
import { runCli, type Terminal } from "./retinue.ts";

/** What the program's commands print of the sessions in a root's data folder. */
export async function showSessions(root: string, sessionIds: readonly string[]): Promise<Line[]> {
  const lines: Line[] = [];
  const overviews = [
    ["sessions", "--limit", "1000", "--json"],
    ["sessions", "--limit", "5"],
    ["stats", "--json"],
    ["stats"],
  ];
  const traces = sessionIds.flatMap((id) => [["trace", id, "--calls", "--ids"]]);
  for (const args of [...overviews, ...traces]) lines.push(await showCommand(args, root));
  return lines;
}

async function showCommand(args: readonly string[], root: string): Promise<Line> {
  const printed: string[] = [];
  const told: string[] = [];
  const keep = (into: string[]) => (text: string) =>
    void into.push(...text.replaceAll(root, "<root>").split("\n"));
  const terminal: Terminal = {
    env: {
      HOME: root,
      RETINUE_HOME: join(root, "data"),
      RETINUE_DISCOVER: "0",
      PATH: join(root, "no-programs"),
      TZ: "UTC",
    },
    cwd: root,
    stdin: process.stdin,
    interactive: false,
    columns: null,
    hasScreen: false,
    print: keep(printed),
    tell: keep(told),
    prompt: keep(told),
  };
  const exitCode = await runCli(args, terminal);
  return { at: `retinue ${args.join(" ")}`, exitCode, printed, told };
}
