// Compiles src/ to dist/ and puts the prompts beside the code that reads them.
import { spawnSync } from "node:child_process";
import { cpSync, rmSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, "dist");

rmSync(dist, { recursive: true, force: true });
const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const { status } = spawnSync(process.execPath, [compiler, "-p", join(root, "tsconfig.build.json")], { cwd: root, stdio: "inherit" });
if (status !== 0) process.exit(status ?? 1);
cpSync(join(root, "src"), dist, {
  recursive: true,
  filter: (path) => !extname(path) || path.endsWith(".md"),
});
writeFileSync(join(dist, ".built"), "");
