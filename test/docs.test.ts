import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "AGENTS.md",
  "packages/core/README.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];
const home = mkdtempSync(join(tmpdir(), "retinue-docs-"));

/** Answers every model call with one sentence. */
const server = http.createServer((request, response) => {
  request.resume().on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      'data: {"choices":[{"index":0,"delta":{"content":"The percent is not divided by 100."},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    );
  });
});

beforeAll(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done)));
afterAll(() => {
  server.close();
  rmSync(home, { recursive: true, force: true });
});

function blocks(file: string, language: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    (match) => match[1] ?? "",
  );
}

function run(
  args: readonly string[],
  withModel = true,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { port } = server.address() as AddressInfo;
  const model = { RETINUE_BASE_URL: `http://127.0.0.1:${port}/v1`, RETINUE_MODEL: "my-model" };
  const env = {
    PATH: process.env.PATH,
    HOME: home,
    RETINUE_HOME: join(home, "data"),
    RETINUE_DISCOVER: "0",
    ...(withModel && model),
  };
  return new Promise((done) => {
    execFile(process.execPath, args, { cwd: root, env }, (error, stdout, stderr) =>
      done({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** Splits a command line on spaces outside of quotes. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    (match) => match[1] ?? match[2] ?? match[3] ?? "",
  );
}

test("the commands in the documents work, in the order they stand", async () => {
  const commands = documents
    .flatMap((file) => blocks(file, "sh").flatMap((block) => block.split("\n")))
    .map((line) => line.replace(/\s+#\s.*$/, "").replace(/^npm start -- /, "retinue "))
    .filter((line) => /^(?:retinue|export) /.test(line));
  expect(commands.length).toBeGreaterThan(4);
  let withModel = false;
  for (const command of commands) {
    withModel ||= command.startsWith("export RETINUE_BASE_URL=");
    if (command.startsWith("export ")) continue;
    const args = [join("dist", "cli.js"), ...words(command).slice(1)];
    const { code, stdout, stderr } = await run(args, withModel);
    expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({ command, code: 0, stderr: "" });
    expect(stdout.trim(), command).not.toBe("");
  }
});

test("the README says how to get retinue on the PATH before the first command that uses it", () => {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const told = text.indexOf("npm link");
  const used = text.search(/^retinue |`retinue [a-z-]+/m);
  expect(told).toBeGreaterThan(0);
  expect(used).toBeGreaterThan(told);
});

test("the TypeScript in the documents runs against the built package", async () => {
  const all = documents.flatMap((file) => blocks(file, "ts").map((text, index) => ({ file, index, text })));
  expect(all.length).toBeGreaterThan(1);
  for (const { file, index, text } of all) {
    const path = join(root, "test", `.snippet-${index}-${file.replaceAll(/\W/g, "_")}.ts`);
    writeFileSync(path, text);
    const { code, stderr } = await run([path]).finally(() => rmSync(path));
    expect({ file, index, code, stderr: code === 0 ? "" : stderr }).toEqual({
      file,
      index,
      code: 0,
      stderr: "",
    });
  }
});

test("the examples run", async () => {
  const { code, stdout, stderr } = await run([join("examples", "library.ts")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.split("\n").slice(0, 3)).toEqual([
    "scout: completed",
    "lead: completed",
    "The entry point is src/index.ts.",
  ]);
});

test("the example of a plan runs", async () => {
  const { code, stdout, stderr } = await run([join("examples", "planning.ts")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trim().split("\n").slice(3)).toEqual([
    "last (worker) needs left, right",
    "completed: 4 of 4 steps done",
    'tool calls: {"planning":0,"execution":0,"review":0,"total":0}',
  ]);
});

test("links between documents lead somewhere", () => {
  const broken = documents.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/\]\((?!https?:)([^)#]+)\)/g)]
      .map((match) => resolve(root, dirname(file), match[1] ?? ""))
      .filter((path) => !exists(path))
      .map((path) => `${file}: ${path}`),
  );
  expect(broken).toEqual([]);
});

function exists(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "ENOTDIR";
  }
}
