import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildTrace } from "@retinue/core/trace/trace-tree";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRows } from "../../../../test/fixtures/made-rows.ts";
import { writePrivateFile } from "../write-files.ts";
import { copyFiles } from "./export-session.ts";
import { writeTranscript } from "./transcript.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "retinue-export-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));
const readMode = (path: string) => statSync(path).mode & 0o777;

test("a file is written whole for its owner alone, and replaces what was there", async () => {
  const path = join(dir, "a.json");
  writeFileSync(path, "old", { mode: 0o644 });
  await writePrivateFile(path, "new");
  expect([readFileSync(path, "utf8"), readMode(path)]).toEqual(["new", 0o600]);
});

test("a link is replaced and not followed, a folder and a missing folder are refused by name", async () => {
  writeFileSync(join(dir, "precious"), "precious");
  symlinkSync(join(dir, "precious"), join(dir, "link"));
  await writePrivateFile(join(dir, "link"), "new");
  expect(readFileSync(join(dir, "precious"), "utf8")).toBe("precious");
  expect(readFileSync(join(dir, "link"), "utf8")).toBe("new");
  mkdirSync(join(dir, "folder"));
  await expect(writePrivateFile(join(dir, "folder"), "")).rejects.toThrow(/folder is not a file/);
  await expect(writePrivateFile(join(dir, "none", "x"), "")).rejects.toThrow(/cannot write .*none\/x/);
});

test("files are copied with their folders for the owner alone; links lead nowhere and are named", async () => {
  const from = join(dir, "from");
  const to = join(dir, "to");
  mkdirSync(join(from, "work_products"), { recursive: true });
  writeFileSync(join(dir, "secret"), "secret");
  writeFileSync(join(from, "work_products", "report.html"), "<p>");
  symlinkSync(join(dir, "secret"), join(from, "link"));
  symlinkSync(dir, join(from, "folder-link"));
  linkSync(join(dir, "secret"), join(from, "hard"));
  const copied = await copyFiles(from, to);
  expect(copied).toMatchObject({ files: 1, bytes: 3 });
  expect(copied.left.map((note) => note.split(":")[0])).toEqual(["folder-link", "hard", "link"]);
  const path = join(to, "work_products", "report.html");
  expect([readFileSync(path, "utf8"), readMode(path), readMode(join(to, "work_products"))]).toEqual([
    "<p>",
    0o600,
    0o700,
  ]);
  expect(await copyFiles(join(dir, "not there"), to)).toEqual({ files: 0, bytes: 0, left: [] });
});

function transcript(text: string): string {
  const rows = createRows();
  const run = rows.run("main", [0, 10], { task: text, error: text });
  const turn = rows.turn(run, [0, 5], { response_content: text });
  rows.call(turn, "read", "ok", [5, 6], { request_content: text, response_content: text });
  rows.run("a", [6, 9], { above: turn, task: "small" });
  const at = "2026-01-01T00:00:00.000Z";
  const session = {
    session_id: "ses_1",
    title: text,
    project: text,
    workspace: "/w",
    created_at: at,
    updated_at: at,
    status: "completed" as const,
    metadata_json: null,
  };
  return writeTranscript(buildTrace({ session, state: "completed", rows: rows.list, nowMs: 0 }));
}

/** Lines of a Markdown text that are in no code block. */
function outside(markdown: string): string[] {
  let fence = "";
  return markdown.split("\n").filter((line) => {
    const [ticks = ""] = /^`{3,}/.exec(line) ?? [];
    if (fence === "" && ticks !== "") {
      fence = ticks;
      return false;
    }
    if (fence !== "" && line.startsWith(fence) && line.trim() === fence) fence = "";
    else if (fence === "") return true;
    return false;
  });
}

test("a transcript numbers runs by their place and tells what each was asked, did and answered", () => {
  const text = transcript("do it");
  expect(text).toMatch(/^# do it\n/);
  expect(text).toContain("## 1 main: do it");
  expect(text).toContain("### 1.1 a: small");
  expect(text).toContain("**Call read** (ok, 1ms)");
});

test("no text of the record gets out of its code block", () => {
  const hostile = "```\n# out\n![x](http://evil.example/x.png)\n<img src=x onerror=alert(1)>\n````";
  const plain = outside(transcript(hostile)).join("\n");
  expect(plain).not.toMatch(/!\[x\]\(/);
  expect(plain).not.toMatch(/(?<!\\)<img/);
  expect(plain.match(/^#+ /gm)).toHaveLength(3);
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("`", "~", "\n", "#", "<", "!", "[", "]", "(", ")", "a", " ", "\u0000"),
      }),
      (text) => {
        expect(outside(transcript(text)).join("\n").match(/^#+ /gm)).toHaveLength(3);
      },
    ),
  );
});
