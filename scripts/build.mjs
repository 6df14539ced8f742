// Builds dist/, the program, and packages/core/dist, the kernel that installs alone: the entries and the chunks they share,
// because loading a few files takes half the time of loading two hundred; the prompts beside them; the types. The program
// has the web app as well.
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const packages = join(root, "packages");
const source = (...path) => join(packages, path[0], "src", ...path.slice(1));
const dist = join(root, "dist");
const coreDist = join(packages, "core", "dist");
// Beside them, so that a build that fails leaves what was there.
const made = join(root, "dist.new");
const madeCore = join(packages, "core", "dist.new");

// Packages of many files that every start reads: one file each takes a fraction of the time.
const BUNDLED = ["commander", "yaml"];

rmSync(made, { recursive: true, force: true });
rmSync(madeCore, { recursive: true, force: true });
/**
 * Bundles some entries by what commands need: help and names; agents and their rights; the record; everything that
 * runs. With the tag `$initial` a group holds only what an entry imports from its start.
 */
async function bundle(dir, input, { tags = [], bundled = [] }) {
  const build = await rolldown({
    input,
    platform: "node",
    // Some parts are loaded late by the program but belong to the testing entry from the start.
    checks: { ineffectiveDynamicImport: false },
    resolve: { conditionNames: ["retinue-source", "node", "import", "default"] },
    external: (id) =>
      !bundled.includes(id) && !/^@retinue\//.test(id) && !/^[./]/.test(id) && !/^[a-z]:/i.test(id),
  });
  const groups = [
    // Read before what is compiled can be kept, so by itself.
    { name: "places", test: /[/\\]settings[/\\]places/, priority: 1 },
    {
      name: "base",
      test: /[/\\]core[/\\]src[/\\](schema[/\\]|show[/\\]|files[/\\]package-root|text[/\\]plain-text)|[/\\]assistant[/\\]src[/\\]accounts[/\\]account\.ts/,
    },
    {
      name: "frame",
      test: /[/\\]cli[/\\]src[/\\](program|cli-command|options|exit-code)\.ts|[/\\]node_modules[/\\]commander[/\\]/,
    },
    {
      name: "agents",
      test: /[/\\]core[/\\]src[/\\](agents|settings|rights)[/\\]|[/\\]builtin[/\\]src[/\\](?!built-in-tools|create-runtime|index)/,
    },
    { name: "record", test: /[/\\]core[/\\]src[/\\]record[/\\]/ },
    { name: "trace", test: /[/\\]core[/\\]src[/\\]trace[/\\]/ },
    {
      name: "core",
      test: /[/\\]core[/\\]src[/\\](budget|changes|delegate|files|git|intent|net|plan|redact|replay|run|session|tools)[/\\]/,
    },
  ];
  await build.write({
    dir,
    format: "esm",
    chunkFileNames: "[name]-[hash].js",
    sourcemap: true,
    // Names stay; without blanks and comments less is read at the start.
    minifyInternalExports: false,
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    codeSplitting: { groups: groups.map((group) => ({ ...group, tags })) },
  });
  await build.close();
}

// The program keeps what is compiled, so few files start fastest. A library cannot, so it reads late what is used late.
await bundle(
  made,
  {
    program: source("cli", "main.ts"),
    "extract-worker": source("research", "extract", "extract-worker.ts"),
    "settle-left": source("code", "sandbox", "settle-left.ts"),
    "stats-worker": source("core", "record", "sqlite", "stats-worker.ts"),
  },
  { bundled: BUNDLED },
);
const testing = source("core", "testing", "index.ts");
await bundle(
  made,
  { index: source("builtin", "index.ts"), testing },
  { tags: ["$initial"], bundled: BUNDLED },
);
await bundle(
  madeCore,
  {
    index: source("core", "index.ts"),
    testing,
    "stats-worker": source("core", "record", "sqlite", "stats-worker.ts"),
  },
  { tags: ["$initial"] },
);

const sources = readdirSync(packages, { recursive: true, encoding: "utf8" }).filter((file) =>
  /^[^/\\]+[/\\]src[/\\]/.test(file),
);
copyPrompts(sources, made);
copyPrompts(
  sources.filter((file) => /^core[/\\]/.test(file)),
  madeCore,
);

// What `retinue` starts: it says which Node is needed before any other file of ours is read.
const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entry = readFileSync(join(root, "scripts", "entry.js"), "utf8");
writeFileSync(join(made, "cli.js"), entry.replaceAll("OLDEST_NODE", /\d+/.exec(engines.node)?.[0] ?? "24"), {
  mode: 0o755,
});

// The built-in agents' frontmatter, read once here instead of at every start.
const { normaliseText, splitFrontmatter } = await import(
  "../packages/core/src/agents/yaml/split-frontmatter.ts"
);
const { parseYaml } = await import("../packages/core/src/agents/yaml/parse-yaml.ts");
const frontmatter = [];
for (const file of readdirSync(join(root, "agents")).filter((name) => name.endsWith(".md"))) {
  const split = splitFrontmatter(normaliseText(readFileSync(join(root, "agents", file), "utf8")));
  const parsed = split.kind === "found" ? await parseYaml(split.yaml, 1, false) : { faults: [] };
  if (!parsed.fields || parsed.fields.notes.length > 0) continue;
  const { values, lines } = parsed.fields;
  frontmatter.push({ text: split.yaml, values: [...values], lines: [...lines] });
}
writeFileSync(join(made, "frontmatter.json"), JSON.stringify(frontmatter));

const { build } = await import("vite");
await build({
  configFile: join(packages, "web", "vite.config.ts"),
  logLevel: "warn",
  build: { outDir: join(made, "web") },
});

makeTypes(join(root, "tsconfig.build.json"), join(made, "types"));
nameTypesByPath();
makeTypes(join(packages, "core", "tsconfig.build.json"), join(madeCore, "types"));
writeFileSync(join(made, ".built"), "");
for (const [from, to] of [
  [madeCore, coreDist],
  [made, dist],
]) {
  rmSync(to, { recursive: true, force: true });
  renameSync(from, to);
}

/** Puts every prompt into one folder beside what is built, where it is found by its name. */
function copyPrompts(files, folder) {
  mkdirSync(join(folder, "prompts"), { recursive: true });
  for (const file of files.filter((each) => /[/\\]prompts[/\\][^/\\]+\.md$/.test(each))) {
    const to = join(folder, "prompts", basename(file));
    if (existsSync(to))
      throw new Error(`two prompts are named ${basename(file)}; give one of them another name`);
    copyFileSync(join(packages, file), to);
  }
}

function makeTypes(config, folder) {
  const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
  const args = [compiler, "-p", config, "--outDir", folder];
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

/** Who installs the program has no package of ours by name: its types name each other by path. */
function nameTypesByPath() {
  const folder = join(made, "types");
  for (const file of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".d.ts")) continue;
    const path = join(folder, file);
    const text = readFileSync(path, "utf8").replace(
      /"@retinue\/([^/"]+)(?:\/([^"]+))?"/g,
      (_, name, module = "index") => {
        const to = relative(dirname(path), join(folder, name, "src", `${module}.ts`)).replaceAll("\\", "/");
        return `"${to.startsWith(".") ? to : `./${to}`}"`;
      },
    );
    writeFileSync(path, text);
  }
}
