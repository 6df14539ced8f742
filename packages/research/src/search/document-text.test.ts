import fc from "fast-check";
import { expect, test } from "vitest";
import { readDocument } from "./document-text.ts";

const read = (path: string, text: string) => readDocument(path, Buffer.from(text));

test("of a page only its own text is taken", () => {
  const page = `<!doctype html><title>On logs &amp; disks – The Site</title><body>
    <nav>Home <a>About</a></nav><h1>On logs &amp; disks</h1>
    <p>A dura<b>ble</b> log<br>costs 5&nbsp;&euro;.</p><script>var hidden = "<p>no</p>"</script>
    <!-- a <p>comment</p> --><aside>Read next</aside><p>3 &lt; 4 and 1 < 2</p><footer>Imprint</footer>`;
  expect(read("a.html", page)).toEqual({
    title: "On logs & disks",
    text: "On logs & disks A durable log costs 5 €. 3 < 4 and 1 < 2",
  });
});

test("elements that never end do not swallow the page", () => {
  expect(read("a.html", "<nav>menu<p>text<p>more<style>")?.text).toBe("menu text more");
});

test("a page of nothing but openings is read in one go", () => {
  for (const piece of ["<nav>", "<!--", "<", "<a href='", "</", "&#x", "<title>"])
    expect(read("a.html", piece.repeat(400_000))).not.toBeNull();
});

test("Markdown has its title from the frontmatter, else from the first heading", () => {
  const body = "# The *heading*\n\nSee [the log](log.md) and `code`.\n";
  expect(read("a.md", body)).toEqual({ title: "The heading", text: "The heading See the log and code ." });
  expect(read("a.md", `---\ntitle: "From above"\n---\n${body}`)?.title).toBe("From above");
  expect(read("notes/a.md", "no heading")?.title).toBe("a.md");
});

test("a text is named by its first line unless that is a paragraph", () => {
  expect(read("a.txt", "\nTape in 2025\n============\nwords")?.title).toBe("Tape in 2025");
  expect(read("a.txt", "word ".repeat(60))?.title).toBe("a.txt");
});

test("other encodings are read, and what is no text is not", () => {
  expect(readDocument("a.txt", Buffer.from("caf\xe9", "latin1"))?.text).toBe("café");
  const utf16 = Buffer.from("\ufeffcafé", "utf16le");
  expect(readDocument("a.txt", utf16)?.text).toBe("café");
  expect(readDocument("a.txt", Buffer.from("a\0b"))).toBeNull();
  expect(read("a.png", "text")).toBeNull();
});

test("no bytes can make it throw", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 500 }),
      fc.constantFrom("a.html", "a.md", "a.txt"),
      (bytes, path) => {
        readDocument(path, bytes);
      },
    ),
  );
});

test("letters that grow in lower case do not shift what is read", () => {
  const page = `<body><p>${"İ".repeat(40)} before <SCRIPT>hidden()</SCRIPT> after</p></body>`;
  expect(read("a.html", page)?.text).toBe(`${"İ".repeat(40)} before after`);
});
