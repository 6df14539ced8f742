// Builds dist/: the entries and the chunks they share, because loading a few files takes half the time of loading
// two hundred; the prompts beside them; the web app; and the types.
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
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const src = join(root, "src");
const dist = join(root, "dist");
// Beside it, so that a build that fails leaves what was there.
const made = join(root, "dist.new");

// Packages of many files that every start reads: one file each takes a fraction of the time.
const BUNDLED = ["commander", "yaml"];

rmSync(made, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    index: join(src, "index.ts"),
    testing: join(src, "testing", "index.ts"),
    program: join(src, "cli", "main.ts"),
    "extract-worker": join(src, "packs", "research", "extract", "extract-worker.ts"),
    "settle-left": join(src, "packs", "code", "sandbox", "settle-left.ts"),
    "stats-worker": join(src, "store", "stats", "stats-worker.ts"),
  },
  platform: "node",
  // Some parts are loaded late by the program but belong to the testing entry from the start.
  checks: { ineffectiveDynamicImport: false },
  external: (id) =>
    !BUNDLED.includes(id) && !id.startsWith(".") && !id.startsWith("/") && !/^[a-z]:/i.test(id),
});
await bundle.write({
  dir: made,
  format: "esm",
  chunkFileNames: "[name]-[hash].js",
  sourcemap: true,
  // Names stay; without blanks and comments less is read at the start.
  minifyInternalExports: false,
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  // By what commands need: help and names; agents and their rights; the record; everything that runs.
  codeSplitting: {
    groups: [
      // Read before what is compiled can be kept, so by itself.
      { name: "places", test: /[/\\]src[/\\]runtime[/\\]project[/\\]places/, priority: 1 },
      {
        name: "base",
        test: /[/\\]src[/\\](schema[/\\]|files[/\\]package-root|packs[/\\]assistant[/\\]accounts[/\\]account\.ts)/,
      },
      {
        name: "agents",
        test: /[/\\]src[/\\](agents|config|permissions|runtime[/\\]project[/\\](?!built-in))/,
      },
      { name: "record", test: /[/\\]src[/\\]store[/\\]/ },
      { name: "trace", test: /[/\\]src[/\\]runtime[/\\]trace[/\\]/ },
      { name: "core", test: /[/\\]src[/\\](files|loop|net|redact|runtime|scheduler|tools)[/\\]/ },
    ],
  },
});
await bundle.close();

const prompts = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
  /(^|[/\\])prompts[/\\][^/\\]+\.md$/.test(file),
);
mkdirSync(join(made, "prompts"), { recursive: true });
for (const file of prompts) {
  const to = join(made, "prompts", basename(file));
  if (existsSync(to))
    throw new Error(`two prompts are named ${basename(file)}; give one of them another name`);
  copyFileSync(join(src, file), to);
}

// What `retinue` starts: it says which Node is needed before any other file of ours is read.
const { engines } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const entry = readFileSync(join(root, "scripts", "entry.js"), "utf8");
writeFileSync(join(made, "cli.js"), entry.replaceAll("OLDEST_NODE", /\d+/.exec(engines.node)?.[0] ?? "24"), {
  mode: 0o755,
});

// What a page is made of is read as it is, like the prompts.
const pages = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) =>
  /(^|[/\\])page[/\\][^/\\]+\.(css|js)$/.test(file),
);
mkdirSync(join(made, "page"), { recursive: true });
for (const file of pages) copyFileSync(join(src, file), join(made, "page", basename(file)));

// The built-in agents' frontmatter, read once here instead of at every start.
const { normaliseText, splitFrontmatter } = await import("../src/agents/yaml/split-frontmatter.ts");
const { parseYaml } = await import("../src/agents/yaml/parse-yaml.ts");
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
  configFile: join(root, "web", "vite.config.ts"),
  logLevel: "warn",
  build: { outDir: join(made, "web") },
});

const compiler = join(root, "node_modules", "typescript", "bin", "tsc");
const { status } = spawnSync(
  process.execPath,
  [compiler, "-p", join(root, "tsconfig.build.json"), "--outDir", join(made, "types")],
  {
    cwd: root,
    stdio: "inherit",
  },
);
if (status !== 0) process.exit(status ?? 1);
writeFileSync(join(made, ".built"), "");
rmSync(dist, { recursive: true, force: true });
renameSync(made, dist);
