// One search in a repository of many files: by our grep tool, or by ripgrep itself with its whole output read.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeTools } from "../dist/index.js";
import { report } from "./measure.mjs";

const { BENCH_DIR: folder, BENCH_MODE: mode, BENCH_PATTERN: pattern = "needle" } = process.env;
const FILES = 50_000;

/** Text that is the same in every run. */
function textOf(index) {
  let state = index + 1;
  const word = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return `word${state % 5_000}`;
  };
  const lines = Array.from({ length: 30 }, () => `  const ${word()} = ${word()}(${word()}, ${word()});`);
  if (index % 1_000 === 7) lines[15] = "  const needle = find(haystack);";
  return lines.join("\n");
}

function makeRepository() {
  for (let index = 0; index < FILES; index++) {
    const below = join(folder, `package-${index % 50}`, `part-${index % 500}`);
    if (index < 500) mkdirSync(below, { recursive: true });
    writeFileSync(join(below, `file-${index}.ts`), textOf(index));
  }
  execFileSync("sync");
}

async function ours(name, input) {
  const tool = codeTools.find((each) => each.name === name);
  const roots = { projectDir: folder, workspaceDir: join(folder, "..") };
  const context = {
    ...roots,
    targets: await tool.access(input, roots),
    signal: new AbortController().signal,
    maySee: () => true,
  };
  const output = await tool.execute(input, context);
  const text = typeof output === "string" ? output : output.text;
  if (output.isError) throw new Error(text);
  return text.split("\n").length;
}

async function plain() {
  const { rgPath } = await import("@vscode/ripgrep");
  const child = spawn(rgPath, ["--line-number", "--no-heading", "--", pattern, "."], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let lines = 0;
  for await (const chunk of child.stdout.setEncoding("utf8")) lines += chunk.split("\n").length - 1;
  return lines;
}

if (!existsSync(folder)) makeRepository();
const work = {
  ripgrep: plain,
  grep: () => ours("grep", { pattern }),
  read: () => ours("read", { path: "package-7/part-7/file-7.ts" }),
};
if (mode !== "make") {
  await work[mode]();
  const times = [];
  for (let round = 0; round < 5; round++) {
    const start = performance.now();
    await work[mode]();
    times.push(performance.now() - start);
  }
  report({ wallMs: times.sort((a, b) => a - b)[2] });
}
