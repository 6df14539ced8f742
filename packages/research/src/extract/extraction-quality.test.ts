import { readdirSync, readFileSync } from "node:fs";
import { parseFragment } from "parse5";
import { expect, test } from "vitest";
import { extractPage } from "./extract-page.ts";

const folder = new URL("../../../../test/fixtures/pages/", import.meta.url);
const names = readdirSync(folder).filter((name) => name.endsWith(".html"));

const MIN_EACH = 0.8;
const MIN_MEAN = 0.96;

type Score = { precision: number; recall: number };
type Node = { nodeName: string; value?: string; childNodes?: readonly Node[] };

test("what a reader came for is extracted from pages of many kinds, and little else", () => {
  const scores = new Map(names.map((name) => [name, scorePage(name)]));
  if (process.env.RETINUE_SHOW_SCORES) console.table(Object.fromEntries(scores));
  expect(scores.size).toBeGreaterThanOrEqual(12);
  const poor = [...scores].filter(([, { precision, recall }]) => precision < MIN_EACH || recall < MIN_EACH);
  expect(poor).toEqual([]);
  const mean = (key: keyof Score) => [...scores.values()].reduce((sum, s) => sum + s[key], 0) / scores.size;
  expect(mean("precision")).toBeGreaterThanOrEqual(MIN_MEAN);
  expect(mean("recall")).toBeGreaterThanOrEqual(MIN_MEAN);
});

/** By words, each counted as often as it occurs. */
function scorePage(name: string): Score {
  const html = readFileSync(new URL(name, folder), "utf8");
  const page = extractPage({
    text: html,
    url: `https://site.example/${name}`,
    contentType: "text/html",
    images: false,
  });
  const expected = splitWords(mainText(html));
  const got = splitWords(plain(page?.markdown ?? ""));
  const left = new Map<string, number>();
  for (const word of expected) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of got) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common++;
  }
  return { precision: common / Math.max(1, got.length), recall: common / expected.length };
}

function mainText(html: string): string {
  const parts = [...html.matchAll(/<!--main-->([\s\S]*?)<!--\/main-->/g)].map(([, part]) => part ?? "");
  return textOf(parseFragment(parts.join("\n")) as Node);
}

function textOf({ nodeName, value, childNodes = [] }: Node): string {
  return nodeName === "#text" ? (value ?? "") : `${childNodes.map(textOf).join(" ")} `;
}

/** Markdown without its signs and without the addresses of its links. */
function plain(markdown: string): string {
  return markdown
    .replace(/\]\([^)]*\)/g, " ")
    .replace(/\\(?=[[\]*_<#`])/g, "")
    .replace(/<[^>]+>/g, " ");
}

function splitWords(text: string): string[] {
  const segmenter = new Intl.Segmenter("ja", { granularity: "word" });
  return [...segmenter.segment(text.toLowerCase())].flatMap(({ segment, isWordLike }) =>
    isWordLike ? [segment] : [],
  );
}
