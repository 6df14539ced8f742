import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { formatPage, namePageFile, readPageContent } from "./crawl-log.ts";

test("the frontmatter is YAML and the text below it comes back, whatever a page says", () => {
  const text = fc.string({ unit: "binary", maxLength: 60 });
  fc.assert(
    fc.property(text, text, text, fc.nat(), (title, author, body, words) => {
      const content = body.toWellFormed().trim();
      const url = "https://a.example/";
      const file = formatPage({ url, title, author, content, words, status: "success" });
      const [, yaml = ""] = /^---\n([\s\S]*?)\n---\n/.exec(file) ?? [];
      expect(parse(yaml)).toEqual({
        url,
        title: title.toWellFormed(),
        author: author.toWellFormed(),
        words,
        status: "success",
      });
      expect(readPageContent(file)).toBe(content);
    }),
  );
});

test("a text without frontmatter is no page", () => {
  expect(readPageContent("# Something else")).toBeUndefined();
  expect(readPageContent("---\nurl: x\n")).toBeUndefined();
});

test("names of files are safe, and differ for different addresses", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (title) => {
      expect(namePageFile("https://a.example/", title)).toMatch(
        /^search_results\/[a-z0-9][a-z0-9-]{0,75}\.md$/,
      );
    }),
  );
  expect(namePageFile("https://a.example/1", "Same")).not.toBe(namePageFile("https://a.example/2", "Same"));
  expect(namePageFile("https://a.example/1", "../../etc/passwd")).toMatch(
    /^search_results\/etc-passwd-\w{10}\.md$/,
  );
});
