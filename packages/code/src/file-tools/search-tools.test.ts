import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AnyTool, Tool, ToolContext } from "@retinue/core/tools/tool";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { glob, grep, ls } from "./search-tools.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-search-")));
const projectDir = join(root, "project");
const workspaceDir = join(root, "workspace");

function write(path: string, text: string): void {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
}

beforeAll(() => {
  write("project/.gitignore", "dist/\n*.log\n");
  write("project/src/a.ts", "const needle = 1;\n// Needle in upper case\nconst other = 2;\n");
  write("project/src/deep/b.ts", "needle\n".repeat(5));
  write("project/src/b.test.ts", "needle\n");
  write("project/dist/out.js", "needle\n");
  write("project/run.log", "needle\n");
  write("project/.env", "needle=1\n");
  write("project/node_modules/x/index.js", "needle\n");
  write("project/image.bin", "needle\0\u0001\n");
  write("project/-x.txt", "needle\n");
  write("project/with:colon.txt", "needle\n");
  write("project/long.txt", `${"needle ".repeat(500)}\n`);
  write("project/numbers.txt", "1\n2\n3\n4\n5\n6\n7\n8\n");
  write("outside.txt", "needle outside\n");
  write("workspace/note.md", "needle\n");
  symlinkSync(join(root, "outside.txt"), join(projectDir, "link.txt"));
  linkSync(join(root, "outside.txt"), join(projectDir, "hard.txt"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function use(tool: AnyTool, input: object, more: Partial<ToolContext> = {}): Promise<string> {
  const roots = { projectDir, workspaceDir };
  const any = tool as Tool<object>;
  const context: ToolContext = {
    ...roots,
    sessionId: "ses",
    runId: "run",
    callId: "call",
    rowId: 1,
    signal: new AbortController().signal,
    targets: await any.access(input, roots),
    maySee: () => true,
    progress() {},
    changed() {},
    observed() {},
    tested() {},
    mayWrite: () => true,
    beforeChange: async () => {},
    aroundChanges: (work) => work(),
    ...more,
  };
  const output = await any.execute(input, context);
  return typeof output === "string" ? output : `${output.isError ? "error: " : ""}${output.text}`;
}

describe("grep", () => {
  test("gives path, line and text; passes over ignored, hidden, binary and linked files", async () => {
    const text = await use(grep, { pattern: "needle", mode: "files" });
    expect(text.split("\n")).toEqual([
      "-x.txt",
      "long.txt",
      "src/a.ts",
      "src/b.test.ts",
      "src/deep/b.ts",
      "with:colon.txt",
      "(1 files left out: there is no right to read them)",
    ]);
    expect(await use(grep, { pattern: "needle", path: "src/a.ts" })).toBe("src/a.ts:1:const needle = 1;");
  });

  test("counts are sorted, and limits say that there is more", async () => {
    expect(await use(grep, { pattern: "needle", mode: "count", path: "src" })).toBe(
      "src/deep/b.ts:5\nsrc/a.ts:1\nsrc/b.test.ts:1",
    );
    expect(await use(grep, { pattern: "needle", mode: "count", path: "src", limit: 1 })).toBe(
      "src/deep/b.ts:5\n(there are more matching files; narrow the search)",
    );
    expect(await use(grep, { pattern: "needle", path: "src/deep", limit: 2 })).toBe(
      "src/deep/b.ts:1:needle\nsrc/deep/b.ts:2:needle\n(there are more matching lines; narrow the search)",
    );
  });

  test("case, plain text and globs are as asked; a glob does not bring ignored files back", async () => {
    expect(await use(grep, { pattern: "NEEDLE", ignoreCase: true, path: "src/a.ts" })).toMatch(
      /:1:.*\n.*:2:/,
    );
    expect(await use(grep, { pattern: "n.edle", fixed: true })).toBe("no matches");
    expect(await use(grep, { pattern: "needle", glob: "*.test.ts" })).toBe("src/b.test.ts:1:needle");
    expect(await use(grep, { pattern: "needle", glob: "{*.log,dist/**}" })).toMatch(/^no matches/);
  });

  test("long lines are cut", async () => {
    const text = await use(grep, { pattern: "needle", path: "long.txt" });
    expect(text.length).toBeLessThan(400);
    expect(text).toContain("… (3502 characters)");
  });

  test.each(["--pre=sh", "-f/etc/passwd", "--files", ";$(id)"])(
    "'%s' is a pattern and nothing else",
    async (pattern) => {
      expect(await use(grep, { pattern, fixed: true, path: "src" })).toBe("no matches");
    },
  );

  test("a path that looks like a flag is a path", async () => {
    expect(await use(grep, { pattern: "needle", path: "-x.txt" })).toBe("-x.txt:1:needle");
  });

  test("a bad expression, a missing folder and a place outside are said", async () => {
    expect(await use(grep, { pattern: "a(b" })).toBe(
      "error: grep: a(b is no regular expression here: unclosed group; with fixed it is plain text",
    );
    expect(await use(grep, { pattern: "(?<=x)y" })).toMatch(
      /^error: grep: \(\?<=x\)y is no regular expression here: look-around.*not supported; with fixed/,
    );
    expect(await use(grep, { pattern: "x", path: "nowhere" })).toBe(
      "error: nowhere: there is no such file or folder",
    );
    expect(await use(grep, { pattern: "x", path: "../outside.txt" })).toMatch(
      /^error: .*outside the project/,
    );
  });

  test("lines around a match are shown as grep shows them, within the limit", async () => {
    const around = (more: object) => use(grep, { pattern: "[37]", path: "numbers.txt", ...more });
    expect(await around({ after: 1 })).toBe(
      "numbers.txt:3:3\nnumbers.txt-4-4\n--\nnumbers.txt:7:7\nnumbers.txt-8-8",
    );
    expect(await around({ context: 1, after: 0 })).toBe(
      "numbers.txt-2-2\nnumbers.txt:3:3\n--\nnumbers.txt-6-6\nnumbers.txt:7:7",
    );
    expect(await around({ context: 2, limit: 3 })).toBe(
      "numbers.txt-1-1\nnumbers.txt-2-2\nnumbers.txt:3:3\n(there are more matching lines; narrow the search)",
    );
    expect(await around({ context: 2, mode: "count" })).toBe("numbers.txt:2");
  });

  test("the workspace is searched with its prefix, and its files carry it", async () => {
    expect(await use(grep, { pattern: "needle", path: "workspace:." })).toBe("workspace:note.md:1:needle");
  });

  test("files that the run has no right to see are left out and counted", async () => {
    const maySee: ToolContext["maySee"] = (file) =>
      file.kind === "path" && !file.relative.startsWith("src/deep/");
    const text = await use(grep, { pattern: "needle", path: "src", mode: "files" }, { maySee });
    expect(text).toBe("src/a.ts\nsrc/b.test.ts\n(1 files left out: there is no right to read them)");
  });

  test("a line break in a name, and what is said of binary data, do not move hits to other files", async () => {
    write("project/odd/x\nplain.txt", "oddity\n");
    write("project/odd/plain.txt", "nothing\n");
    write("project/odd/half.bin", `oddity\n${"x".repeat(200_000)}\0\n`);
    write("project/odd/with space ü.txt", "oddity\n");
    const hits = (await use(grep, { pattern: "oddity", path: "odd" })).split(/\n(?=odd)/);
    expect(hits).toEqual([
      "odd/half.bin:1:oddity",
      "odd/with space ü.txt:1:oddity",
      "odd/x\nplain.txt:1:oddity",
    ]);
  });

  test("a stopped run stops the search", async () => {
    expect(await use(grep, { pattern: "needle" }, { signal: AbortSignal.abort() })).toMatch(
      /^error: .*abort/i,
    );
  });
});

describe("ls", () => {
  test("leaves out what the run may not read, and counts it", async () => {
    const maySee: ToolContext["maySee"] = (file) => file.kind === "path" && file.relative !== "src/a.ts";
    expect(await use(ls, { path: "src" }, { maySee })).toBe(
      "b.test.ts\ndeep/\n(1 files left out: there is no right to read them)",
    );
  });
});

describe("glob", () => {
  test("a pattern without a slash is about names at any depth, one with a slash about paths", async () => {
    expect(await use(glob, { pattern: "*.ts" })).toBe("src/a.ts\nsrc/b.test.ts\nsrc/deep/b.ts");
    expect(await use(glob, { pattern: "src/*.ts" })).toBe("src/a.ts\nsrc/b.test.ts");
    expect(await use(glob, { pattern: "**/deep/*" })).toBe("src/deep/b.ts");
    expect(await use(glob, { pattern: "*.ts", path: "src/deep" })).toBe("src/deep/b.ts");
  });

  test("ignored files stay out, and nothing found is said", async () => {
    expect(await use(glob, { pattern: "*.{log,js}" })).toBe("no files match");
  });
});
