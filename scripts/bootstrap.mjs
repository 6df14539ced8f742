// Runs before `npm start`, `npm test` and the other scripts, on any Node from 20 on and with nothing installed yet.
// Brings the locked dependencies, a Node that is new enough, and the built program, each only if it is missing.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_VERSION = "24.21.0";
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const modules = join(root, "node_modules");
const windows = process.platform === "win32";

installDependencies();
bringNode();
if (process.argv.includes("--build")) build();

function installDependencies() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(modules, ".retinue-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  say("installing dependencies …");
  npm(["ci", "--loglevel=error", "--no-audit", "--no-fund"], root);
  writeFileSync(stamp, lock);
}

/** npm scripts look into node_modules/.bin first, so a Node there is the one they use. */
function bringNode() {
  if (Number(process.versions.node.split(".")[0]) >= 24) return;
  const link = join(modules, ".bin", windows ? "node.exe" : "node");
  if (existsSync(link)) return;
  const name = `node-${windows ? "win" : process.platform}-${process.arch}`;
  const home = join(modules, ".cache", "retinue-node");
  say(`this is Node ${process.versions.node}; bringing Node ${NODE_VERSION} into node_modules …`);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "package.json"), '{"private":true}\n');
  npm(
    ["install", "--no-save", "--loglevel=error", "--no-audit", "--no-fund", `${name}@${NODE_VERSION}`],
    home,
  );
  rmSync(link, { force: true });
  symlinkSync(join(home, "node_modules", name, "bin", windows ? "node.exe" : "node"), link);
}

function build() {
  const built = join(root, "dist", ".built");
  if (existsSync(built) && statSync(built).mtimeMs >= newest(join(root, "src"))) return;
  say("building …");
  const node = existsSync(join(modules, ".bin", "node")) ? join(modules, ".bin", "node") : process.execPath;
  run(node, [join(root, "scripts", "build.mjs")], root);
}

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

function npm(args, cwd) {
  if (process.env.npm_execpath?.endsWith(".js"))
    run(process.execPath, [process.env.npm_execpath, ...args], cwd);
  else run(windows ? "npm.cmd" : "npm", args, cwd);
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ["ignore", 2, 2], shell: windows });
  if (status === 0) return;
  say(`'${command} ${args.join(" ")}' failed${error ? `: ${error.message}` : ""}; mend that and try again`);
  process.exit(1);
}

function say(text) {
  process.stderr.write(`retinue: ${text}\n`);
}
