// Runs before `npm start`, `npm test` and the other scripts, on any Node from 20 on and with nothing installed yet.
// Brings a Node that is new enough, the locked dependencies, and the built program, each only if it is missing. Node
// comes first: npm leaves out packages that do not fit the Node it runs on.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_VERSION = "24.21.0";
const root = realpathSync(dirname(dirname(fileURLToPath(import.meta.url))));
const modules = join(root, "node_modules");
const windows = process.platform === "win32";

const node = bringNode();
installDependencies();
linkNode();
if (process.argv.includes("--build")) build();

function installDependencies() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(modules, ".retinue-lock");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  say("installing dependencies …");
  npm(node, ["ci", "--loglevel=error", "--no-audit", "--no-fund"], root);
  writeFileSync(stamp, lock);
}

/** The Node to go on with: this one, or one in a folder of its own, because `npm ci` empties node_modules. */
function bringNode() {
  if (Number(process.versions.node.split(".")[0]) >= 24) return process.execPath;
  const name = `node-${windows ? "win" : process.platform}-${process.arch}`;
  const home = join(root, ".node");
  const brought = join(home, "node_modules", name, "bin", windows ? "node.exe" : "node");
  if (existsSync(brought) && existsSync(join(home, NODE_VERSION))) return brought;
  say(`this is Node ${process.versions.node}; bringing Node ${NODE_VERSION} …`);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  writeFileSync(join(home, "package.json"), '{"private":true}\n');
  const install = ["install", "--no-save", "--loglevel=error", "--no-audit", "--no-fund"];
  npm(process.execPath, [...install, `${name}@${NODE_VERSION}`], home);
  writeFileSync(join(home, NODE_VERSION), "");
  return brought;
}

/**
 * npm scripts look into node_modules/.bin first, so a Node there is the one they use: also this one, if it was brought
 * earlier and `npm ci` has just removed the link.
 */
function linkNode() {
  const link = join(modules, ".bin", windows ? "node.exe" : "node");
  if (!node.startsWith(join(root, ".node")) || existsSync(link)) return;
  rmSync(link, { force: true });
  symlinkSync(node, link);
}

function build() {
  const built = join(root, "dist", ".built");
  const sources = newest(join(root, "packages"));
  if (existsSync(built) && statSync(built).mtimeMs >= sources) return;
  say("building …");
  run(node, [join(root, "scripts", "build.mjs")], root);
}

function newest(folder) {
  let latest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === "dist" || entry.name === "node_modules") continue;
    const path = join(folder, entry.name);
    latest = Math.max(latest, entry.isDirectory() ? newest(path) : statSync(path).mtimeMs);
  }
  return latest;
}

function npm(withNode, args, cwd) {
  if (process.env.npm_execpath?.endsWith(".js")) run(withNode, [process.env.npm_execpath, ...args], cwd);
  else run(windows ? "npm.cmd" : "npm", args, cwd, dirname(withNode));
}

function run(command, args, cwd, first = "") {
  const env = { ...process.env, ...(first && { PATH: `${first}${delimiter}${process.env.PATH}` }) };
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: ["ignore", 2, 2], shell: windows });
  if (status === 0) return;
  say(`'${command} ${args.join(" ")}' failed${error ? `: ${error.message}` : ""}; fix that and try again`);
  process.exit(1);
}

function say(text) {
  process.stderr.write(`retinue: ${text}\n`);
}
