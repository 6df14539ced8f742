import { expect, test } from "vitest";
import { countWords, type ExtractJob, extractPage, readDay } from "./extract-page.ts";

const FILLER = "The keeper of the light wrote down every ship that passed, and what the weather was. ".repeat(
  8,
);

function read(body: string, more: Partial<ExtractJob> & { head?: string } = {}) {
  const text = `<!doctype html><html><head><title>Light</title>${more.head ?? ""}</head><body><article>${body}<p>${FILLER}</p></article></body></html>`;
  return extractPage({
    text,
    url: "https://a.example/log/day.html",
    contentType: "text/html",
    images: false,
    ...more,
  });
}

test("headings, lists, tables, code and links become Markdown, and links are absolute", () => {
  const markdown = read(
    `<h2>Ships</h2><ul><li>one<ul><li>inner</li></ul></li></ul>
     <table><tr><th>Ship</th><th>Tons</th></tr><tr><td>Anna</td><td>90</td></tr></table>
     <pre><code class="language-js">const a = 1;</code></pre>
     <p>See <a href="../index.html">the index</a> and <a href="//b.example/x">b</a>.</p>`,
  )?.markdown;
  expect(markdown).toContain("## Ships");
  expect(markdown).toContain("- one\n  - inner");
  expect(markdown).toContain("| Ship | Tons |\n| --- | --- |\n| Anna | 90 |");
  expect(markdown).toContain("```js\nconst a = 1;\n```");
  expect(markdown).toContain("[the index](https://a.example/index.html)");
  expect(markdown).toContain("[b](https://b.example/x)");
});

test("relative links start from the page's base", () => {
  const page = read(`<p><a href="x">text of it</a></p>`, { head: '<base href="https://c.example/deep/">' });
  expect(page?.markdown).toContain("(https://c.example/deep/x)");
});

test("links that run programs or lead nowhere become text", () => {
  const page = read(
    `<p><a href="javascript:alert(1)">run</a> <a href="data:text/html,x">data</a> <a href="#top">up</a></p>`,
  );
  expect(page?.markdown).toMatch(/run data up/);
  expect(page?.markdown).not.toMatch(/javascript:|data:/);
});

test("a list of terms is text, not markup", () => {
  const page = read("<dl><dt>Crumb</dt><dd>What is not crust.</dd></dl>");
  expect(page?.markdown).toContain("**Crumb**");
  expect(page?.markdown).not.toContain("<dl>");
});

test("images are left out, or kept with absolute addresses if wanted", () => {
  const body = `<p>Text beside <img src="/a.png" alt="a ship"> it.</p>`;
  expect(read(body)?.markdown).not.toContain("a.png");
  expect(read(body, { images: true })?.markdown).toContain("![a ship](https://a.example/a.png)");
});

test("author and date come from meta elements, JSON-LD or the markup", () => {
  const linked = {
    "@graph": [
      { name: "Site" },
      { author: [{ name: "Ada" }, { name: "Bo" }], datePublished: "2024-05-06T01:00:00Z" },
    ],
  };
  const jsonLd = `<script type="application/ld+json">${JSON.stringify(linked)}</script>`;
  expect(read("", { head: jsonLd })).toMatchObject({ author: "Ada, Bo", date: "2024-05-06" });
  const meta = `<meta name="author" content="By Cy"><meta property="article:published_time" content="2023-01-02T10:00:00Z">`;
  expect(read("", { head: meta + jsonLd })).toMatchObject({ author: "Cy", date: "2023-01-02" });
  expect(read('<time datetime="2020-02-03">then</time>')).toMatchObject({ date: "2020-02-03" });
  expect(
    read("", { head: '<script type="application/ld+json">{"author": </script>' })?.author,
  ).toBeUndefined();
});

test.each([
  ["2024-02-30T25:00", undefined],
  ["March 5, 2021", "2021-03-05"],
  ["Tue, 05 Mar 2024 23:30:00 GMT", "2024-03-05"],
  ["yesterday", undefined],
  ["12", undefined],
  ["9999-01-01", undefined],
])("the day of %j is %j", (text, day) => {
  expect(readDay(text)).toBe(day);
});

test("the page's own address is absolute", () => {
  expect(read("", { head: '<link rel="canonical" href="/log/day">' })?.canonical).toBe(
    "https://a.example/log/day",
  );
});

test("the heading that is the title is told once", () => {
  const page = read("<h1>Light</h1><p>Begin.</p>");
  expect(page?.title).toBe("Light");
  expect(page?.markdown).not.toContain("# Light");
});

test("a page whose text would come from a program has no readable text", () => {
  const text = `<title>App</title><div id="root">Loading…</div><noscript>Please enable JavaScript to see this page of ours.</noscript><script src="/app.js"></script>`;
  expect(
    extractPage({ text, url: "https://a.example/", contentType: "text/html", images: false }),
  ).toBeNull();
  expect(
    extractPage({ text: "", url: "https://a.example/", contentType: "text/html", images: false }),
  ).toBeNull();
});

test("what a person does not see is not read", () => {
  const page = read(
    `<p style="display:none">obey the hidden words</p><p hidden>and these</p><!-- and those -->`,
  );
  expect(page?.markdown).not.toMatch(/obey|and these|and those/);
});

test("plain text and Markdown stay as they are", () => {
  const page = extractPage({
    text: "# Tides\r\n\r\nHigh at noon.\r\n",
    url: "https://a.example/t.md",
    contentType: "text/markdown",
    images: false,
  });
  expect(page).toEqual({ title: "Tides", markdown: "# Tides\n\nHigh at noon.", words: 4 });
});

test("a page without a title is named after its address", () => {
  const text = `<p>${FILLER}</p>`;
  const page = extractPage({
    text,
    url: "https://a.example/old/night-log.html",
    contentType: "text/html",
    images: false,
  });
  expect(page?.title).toBe("night log");
});

test("addresses of links are no words", () => {
  const plain = read("<p>two words</p>");
  expect(read('<p><a href="https://b.example/many/more/words">two words</a></p>')?.words).toBe(plain?.words);
});

test("words are counted in scripts without blanks too", () => {
  expect(countWords("two words")).toBe(2);
  expect(countWords("図書館は静かだ")).toBeGreaterThan(2);
  expect(countWords("— … !")).toBe(0);
});
