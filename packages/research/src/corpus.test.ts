import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nameForRun } from "@retinue/core/tools/name-for-run";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Article, CORPUS_FILE, checkCorpus, createCorpus, loadCorpus } from "./corpus.ts";

const article = (url: string, status: Article["status"] = "success"): Article => ({
  url,
  title: "Title",
  content: status === "success" ? "text" : "",
  status,
});

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "retinue-corpus-")));
});
afterEach(() => rmSync(dir, { recursive: true }));
const save = (name: string, ...urls: string[]) =>
  writeFileSync(
    join(dir, name),
    JSON.stringify(
      createCorpus(
        urls.map((url) => article(url)),
        new Date(0),
      ),
    ),
  );

test("what was not read counts as failed, whatever kept it from being read", async () => {
  const corpus = createCorpus(
    [article("a"), article("b", "failed"), article("c", "timeout"), article("d", "skipped")],
    new Date("2026-11-19T07:00:00Z"),
  );
  expect(corpus).toMatchObject({
    extraction_timestamp: "2026-11-19T07:00:00.000Z",
    total_articles: 4,
    successful: 1,
    failed: 3,
  });
  expect(await checkCorpus(corpus)).toEqual([]);
  expect(await checkCorpus(createCorpus([], new Date()))).not.toEqual([]);
});

test("a run has its own corpus, or else that of the workspace", async () => {
  expect(await loadCorpus(dir, "run_1")).toContain("call save_corpus first");
  save(CORPUS_FILE, "https://a.example/");
  expect(await loadCorpus(dir, "run_1")).toMatchObject({ total_articles: 1 });
  save(nameForRun(CORPUS_FILE, "run_1"), "https://a.example/", "https://b.example/");
  expect(await loadCorpus(dir, "run_1")).toMatchObject({ total_articles: 2 });
});

test("a file that is no corpus, or a link, is refused with the reason", async () => {
  writeFileSync(join(dir, CORPUS_FILE), '{"articles": []}');
  expect(await loadCorpus(dir, "run_1")).toContain("is not a corpus");
  writeFileSync(join(dir, CORPUS_FILE), "{");
  expect(await loadCorpus(dir, "run_1")).toContain("cannot be read");
  rmSync(join(dir, CORPUS_FILE));
  symlinkSync("/etc/hostname", join(dir, CORPUS_FILE));
  expect(await loadCorpus(dir, "run_1")).toContain("cannot be read");
});
