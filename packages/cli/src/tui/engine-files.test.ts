import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadProject } from "@retinue/builtin/load-project";
import { expect, test } from "vitest";
import { listProjectFiles } from "./engine.ts";

test("files that are ignored, hidden or denied to every agent are not offered", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-files-"));
  try {
    const projectDir = join(root, "project");
    const settings = JSON.stringify({ permissions: { deny: ["read(secrets/**)"] } });
    for (const [path, text] of [
      ["src/main.ts", ""],
      ["notes.md", ""],
      [".env", ""],
      ["dist/out.js", ""],
      ["secrets/key.txt", ""],
      [".gitignore", "dist\n"],
      [".retinue/settings.json", settings],
    ] as const) {
      mkdirSync(join(projectDir, path, ".."), { recursive: true });
      writeFileSync(join(projectDir, path), text);
    }
    const env = { HOME: root, XDG_CONFIG_HOME: join(root, "config"), RETINUE_HOME: join(root, "data") };
    const project = await loadProject({ projectDir, env });
    expect(await listProjectFiles({ ...project, projectDir })).toEqual(["notes.md", "src/main.ts"]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
