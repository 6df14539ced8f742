import { expect, test } from "vitest";
import type { Target } from "../schema/rights.ts";
import { decide } from "./decide.ts";
import { namedLayer, openingFor, protectedLayer } from "./protected-layer.ts";

const layer = protectedLayer({ dataDir: "/data", configDir: "/config", homeDir: "/home/ada" });

function verdict(chain: Parameters<typeof decide>[0], path: string, mode: "read" | "write") {
  const target: Target = { kind: "path", path, root: "outside", relative: path, mode };
  return decide(chain, { tool: mode, groups: ["filesystem"], targets: [target] }).verdict;
}

test("of the data folder nothing may be read or written, of agent files and settings nothing written", () => {
  const chain = [layer];
  for (const mode of ["read", "write"] as const) {
    expect(verdict(chain, "/data/retinue.db", mode)).toBe("deny");
    expect(verdict(chain, "/data/worktrees/run_a/x.txt", mode)).toBe("deny");
  }
  for (const path of ["/config/settings.json", "/home/ada/.gitconfig", "/p/.git/config", "/p/a/.claude/x"]) {
    expect(verdict(chain, path, "write")).toBe("deny");
    expect(verdict(chain, path, "read")).toBe("allow");
  }
});

test("a run in a folder of its own has that folder open and nothing else there, also below a run that has another", () => {
  const outer = openingFor([layer], "/data/worktrees/run_a");
  const inner = openingFor(outer, "/data/worktrees/run_b");
  for (const mode of ["read", "write"] as const) {
    expect(verdict(outer, "/data/worktrees/run_a/x.txt", mode)).toBe("allow");
    expect(verdict(inner, "/data/worktrees/run_b/x.txt", mode)).toBe("allow");
    expect(verdict(inner, "/data/worktrees/run_a/x.txt", mode)).toBe("deny");
    expect(verdict(inner, "/data/retinue.db", mode)).toBe("deny");
  }
  expect(verdict(inner, "/data/worktrees/run_b/.git/config", "write")).toBe("deny");
});

test("folders are meant literally, whatever characters their names hold", () => {
  const places = { dataDir: "/da*ta", configDir: "/config", homeDir: "/home/ada" };
  const chain = [protectedLayer({ ...places, open: ["/da*ta/run_*"] })];
  expect(verdict(chain, "/da*ta/run_*/x.txt", "write")).toBe("allow");
  expect(verdict(chain, "/da*ta/run_1/x.txt", "write")).toBe("deny");
  expect(verdict(chain, "/data/x.txt", "write")).toBe("allow");
});

test("files that agents are made of, and places that a setting names, are not written", () => {
  const places = { dataDir: "/data", configDir: "/config", homeDir: "/home/ada" };
  const made = [protectedLayer({ ...places, definitions: ["/roles/lead.md"] })];
  expect([verdict(made, "/roles/lead.md", "write"), verdict(made, "/roles/other.md", "write")]).toEqual([
    "deny",
    "allow",
  ]);
  const named = [namedLayer([{ path: "/p/hooks/check.sh", namedBy: "hooks" }])];
  expect(verdict(named, "/p/hooks/check.sh", "write")).toBe("deny");
  expect(verdict(named, "/p/hooks/check.sh", "read")).toBe("allow");
});
