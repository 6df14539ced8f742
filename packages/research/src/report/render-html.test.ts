import fc from "fast-check";
import { type DefaultTreeAdapterTypes, parse } from "parse5";
import { describe, expect, test } from "vitest";
import { CORPUS } from "../../../../test/fixtures/night-trains.ts";
import { synthesise } from "../synthesis/synthesise.ts";
import { renderHtml } from "./render-html.ts";
import { renderMarkdown } from "./render-markdown.ts";
import type { Passage, ResearchReport } from "./report.ts";
import { findExternalLoads } from "./write-local-file.ts";

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

function elementsIn(html: string): { elements: Element[]; errors: string[] } {
  const errors: string[] = [];
  const elements: Element[] = [];
  const open: Node[] = [parse(html, { onParseError: ({ code }) => errors.push(code) })];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if ("tagName" in node) elements.push(node);
    if ("childNodes" in node) open.push(...node.childNodes);
  }
  return { elements, errors };
}

const attribute = ({ attrs }: Element, name: string) => attrs.find((each) => each.name === name)?.value;

/** Structure, addresses and references of a page that anybody can open. */
async function expectSound(html: string): Promise<void> {
  const { elements, errors } = elementsIn(html);
  expect(errors).toEqual([]);
  expect(await findExternalLoads(html)).toEqual([]);
  const ids = elements.flatMap((element) => attribute(element, "id") ?? []);
  expect(new Set(ids).size).toBe(ids.length);
  const inner = elements
    .flatMap((element) => attribute(element, "href") ?? [])
    .filter((href) => href.startsWith("#"));
  expect(inner.filter((href) => !ids.includes(href.slice(1)))).toEqual([]);
  const named = elements.flatMap((element) =>
    (attribute(element, "aria-labelledby") ?? "").split(" ").filter(Boolean),
  );
  expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  const outer = elements
    .flatMap((element) => attribute(element, "href") ?? [])
    .filter((href) => !href.startsWith("#"));
  for (const href of outer) expect(href).toMatch(/^(?:https?:\/\/|\.\.\/search_results\/)/);
}

const passage: fc.Arbitrary<Passage> = fc.record({
  text: fc.string({ unit: "binary" }),
  cites: fc.array(fc.integer({ min: -1, max: 5 }), { maxLength: 3 }),
  also: fc.array(fc.integer({ min: -1, max: 5 }), { maxLength: 2 }),
});
const hostile = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "</title><script>alert(1)</script>",
    '" onload="x',
    "<!--",
    "]]>",
    "&lt;",
    "\u202egnp.exe",
    "</style><img src=x>",
    "javascript:alert(1)",
    "https://u:p@e.example/",
    "http://127.0.0.1:1/a%zz",
  ),
);
const anyReport: fc.Arbitrary<ResearchReport> = fc.record({
  title: hostile,
  request: hostile,
  extractive: fc.boolean(),
  summary: fc.array(fc.array(passage, { maxLength: 2 }), { maxLength: 2 }),
  figures: fc.array(fc.record({ value: hostile, about: passage }), { maxLength: 2 }),
  charts: fc.array(
    fc.record({
      title: hostile,
      bars: fc.array(fc.record({ label: hostile, value: fc.nat(), shown: hostile }), { maxLength: 3 }),
      cites: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
  themes: fc.array(
    fc.record({
      heading: hostile,
      paragraphs: fc.array(fc.array(passage, { maxLength: 2 }), { maxLength: 2 }),
    }),
    { maxLength: 2 },
  ),
  quotes: fc.array(fc.record({ text: hostile, speaker: hostile, role: hostile, cites: fc.constant([1]) }), {
    maxLength: 2,
  }),
  contradictions: fc.array(
    fc.record({ topic: hostile, note: hostile, claims: fc.array(passage, { maxLength: 2 }) }),
    { maxLength: 2 },
  ),
  sources: fc.array(
    fc.record({
      title: hostile,
      url: hostile,
      author: hostile,
      date: hostile,
      words: fc.nat(),
      file: hostile,
      place: hostile,
    }),
    { maxLength: 3 },
  ),
  unread: fc.array(fc.record({ url: hostile, title: hostile, reason: hostile }), { maxLength: 2 }),
  method: fc.array(hostile, { maxLength: 2 }),
  extractedAt: hostile,
});

describe("a report as HTML", () => {
  test("is sound, loads nothing, and all its citations lead to their source and back", async () => {
    const html = renderHtml(await synthesise(CORPUS, { title: "Night trains" }));
    await expectSound(html);
    for (const heading of [
      "Executive summary",
      "Key figures",
      "In their words",
      "Where sources differ",
      "Sources",
    ])
      expect(html).toContain(`>${heading}</h2>`);
    expect(html).toMatch(/<a id="cite-3-1" href="#source-3"/);
    expect(html).toMatch(/<li id="source-3">.*href="#cite-3-1"/);
    expect(html).toContain("Extractive: made by rules, no model");
    expect(html).toContain("HTTP 404 (1214)");
  });

  test("stays sound whatever its texts are", async () => {
    await fc.assert(
      fc.asyncProperty(anyReport, (report) => expectSound(renderHtml(report))),
      { numRuns: 150 },
    );
  });

  test("shows markup in titles as text and links only to pages of the web", async () => {
    const base = await synthesise(CORPUS, { title: "<script>alert(1)</script>" });
    const sources = [
      { title: "<img src=x onerror=alert(1)>", url: "javascript:alert(1)" },
      { title: "Own", url: "http://127.0.0.1:4000/docs/a%20b.html" },
      ...base.sources.slice(2),
    ];
    const html = renderHtml({ ...base, sources });
    expect(html).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(html).not.toMatch(/<script|<img|href="javascript|href="http:\/\/127/);
    expect(html).toContain("local document /docs/a b.html");
  });

  test("allows its own style and nothing else by its policy", async () => {
    const html = renderHtml(await synthesise(CORPUS, { title: "x" }));
    expect(html).toMatch(
      /Content-Security-Policy" content="default-src 'none'; style-src 'sha256-[\w+/=]{44}';/,
    );
    expect(html).not.toMatch(/ style="/);
  });
});

describe("a report as Markdown", () => {
  test("has the same parts, and citations that lead to the list of sources", async () => {
    const markdown = renderMarkdown(await synthesise(CORPUS, { title: "Night trains" }));
    expect(markdown).toMatch(/^# Night trains\n/);
    expect(markdown).toContain("[[3]](#source-3)");
    expect(markdown).toContain(
      '3. <a id="source-3"></a>[Sleeper trains can pay their way](<https://trains.example',
    );
    expect(markdown).toContain("| Private compartment | 58 % |");
  });

  test("does not let a text pass for markup", () => {
    const text = "# <b>x</b> [y](javascript:z) | `c` *d*";
    const report = { title: text, summary: [[{ text, cites: [1] }]], sources: [{ title: text, url: "x:y" }] };
    const empty = {
      figures: [],
      charts: [],
      themes: [],
      quotes: [],
      contradictions: [],
      unread: [],
      method: [],
    };
    const markdown = renderMarkdown({ ...empty, ...report, extractive: false, extractedAt: "" });
    expect(markdown).not.toMatch(/(?<!\\)(?:<b>|\]\(javascript|`)/);
  });
});
