import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyEdits, type Edit } from "./apply-edits.ts";
import { applyUnifiedPatch } from "./apply-patch.ts";

const counted = process.env.RETINUE_DEEP ? 20_000 : 500;

/** Texts of few letters, so that pieces of them often occur again. */
const text = fc
  .array(fc.constantFrom("a", "b", "ab", " ", "\n", "é", "😀"), { maxLength: 40 })
  .map((parts) => parts.join(""));
const edits = fc.array(
  fc.record({
    old: text.filter((each) => each !== ""),
    new: text,
    all: fc.boolean(),
  }),
  { minLength: 1, maxLength: 4 },
);

/** The plainest way to do the same, for texts with `\n` only. */
function reference(from: string, list: readonly Edit[]): string | null {
  let now = from;
  for (const { old, new: put, all } of list) {
    let places = 0;
    for (let at = 0; at < now.length; at++) if (now.startsWith(old, at)) places++;
    if (places === 0 || old === put || (places > 1 && !all)) return null;
    now = all ? now.split(old).join(put) : now.replace(old, () => put);
  }
  return now;
}

/** What the edits give, or null if they are refused. */
function edited(from: string, list: readonly Edit[]): string | null {
  const applied = applyEdits(from, list);
  return applied.ok ? applied.text : null;
}

const windows = (unix: string) => unix.replaceAll("\n", "\r\n");

describe("edits", () => {
  test("random edits give what plain replacement gives, or are refused as a whole", () => {
    fc.assert(
      fc.property(text, edits, (from, list) => {
        expect(edited(from, list)).toBe(reference(from, list));
      }),
      { numRuns: counted },
    );
  });

  test("a file with Windows line ends keeps them, whichever ends the edit has", () => {
    fc.assert(
      fc.property(text, edits, fc.boolean(), (from, list, alsoWindows) => {
        fc.pre(from.includes("\n"));
        const expected = reference(from, list);
        const given = alsoWindows
          ? list.map((each) => ({ ...each, old: windows(each.old), new: windows(each.new) }))
          : list;
        fc.pre(expected === null || staysWindows(from, list));
        expect(edited(windows(from), given)).toBe(expected === null ? null : windows(expected));
      }),
      { numRuns: counted },
    );
  });

  test("a byte order mark stays, and needs not be given", () => {
    fc.assert(
      fc.property(text, edits, (from, list) => {
        const expected = reference(from, list);
        expect(edited(`\uFEFF${from}`, list)).toBe(expected === null ? null : `\uFEFF${expected}`);
      }),
      { numRuns: counted },
    );
  });

  test("where line ends are mixed, untouched ones stay and new ones are like those replaced", () => {
    const mixed = "one\r\ntwo\nthree\r\nfour\nfive\r\n";
    expect(edited(mixed, [{ old: "two\nthree", new: "2\n3" }])).toBe("one\r\n2\n3\r\nfour\nfive\r\n");
    expect(edited(mixed, [{ old: "one\ntwo", new: "1\n2" }])).toBe("1\r\n2\nthree\r\nfour\nfive\r\n");
    expect(edited(mixed, [{ old: "four", new: "4\n4" }])).toBe("one\r\ntwo\nthree\r\n4\r\n4\nfive\r\n");
  });

  test("dollar signs mean themselves", () => {
    expect(edited("price", [{ old: "price", new: "$&$1$$" }])).toBe("$&$1$$");
  });
});

/** Whether a line end is left after each edit: without one, nothing says which ends the file had. */
function staysWindows(from: string, list: readonly Edit[]): boolean {
  let now = from;
  return list.every((each) => {
    const had = now.includes("\n");
    now = reference(now, [each]) ?? now;
    return had;
  });
}

describe("refusals", () => {
  const refused = (from: string, ...list: Edit[]) => {
    const applied = applyEdits(from, list);
    return applied.ok ? "applied" : applied.message;
  };

  test("say how often a text occurs and where", () => {
    expect(refused("x\ny\nx\n", { old: "x", new: "z" })).toMatch(/occurs 2 times \(lines 1, 3\)/);
    expect(refused("aaa", { old: "aa", new: "b" })).toMatch(/occurs 2 times/);
  });

  test("show the lines that differ only in white space", () => {
    const message = refused("if (x) {\n\treturn  1;\n}\n", { old: "if (x) {\n  return 1;\n}", new: "" });
    expect(message).toContain(
      "but for white space it is in these lines:\n1\tif (x) {\n2\t\treturn  1;\n3\t}",
    );
  });

  test("show the place where most of the lines are, or the line most like the longest", () => {
    expect(refused("a = 1\nb = 2\nc = 3\n", { old: "a = 1\nb = 9\nc = 3", new: "" })).toContain(
      "of its 3 lines, 2 are here:\n1\ta = 1\n2\tb = 2\n3\tc = 3",
    );
    expect(
      refused("zero\nconst total = count + 1;\n", { old: "const total = count + 2;", new: "" }),
    ).toContain("2\tconst total = count + 1;");
    expect(
      refused("if x:\n  const total = count + 1;\n", { old: "a\nconst total = 9;\nb", new: "" }),
    ).toContain("the line most like its longest one:");
    expect(refused("abc\n", { old: "xyz", new: "" })).toContain("nothing close to it was found");
  });

  test.each([
    ["a b c d\n", "a b\nc d", "but for white space it is in these lines:\n1\ta b c d"],
    [
      "first(\n  one,\n  two,\n)\n",
      "first(one, two,)",
      "these lines:\n1\tfirst(\n2\t  one,\n3\t  two,\n4\t)",
    ],
    [`${"x".repeat(200)} const a = 1; ${"y".repeat(200)}\n`, "const  a = 1;", "these lines:\n1\txxx"],
    [
      "}\n}\nconst longName = 5;\n}\n",
      "}\nconst longName = 5;\nother",
      "of its 3 lines, 2 are here:\n2\t}\n3\tconst longName",
    ],
    [
      "pre const longName = 5; post\nz\n",
      "const longName = 5;\nother",
      "of its 2 lines, 1 is here:\n1\tpre const",
    ],
    ["x\nz\n", "x\ny", "of its 2 lines, 1 is here:\n1\tx"],
    ["}\nreturn alpha + beta;\n", "return alpha + gamma;\n}", "longest one:\n1\t}\n2\treturn alpha"],
  ])("say where most of a text stands that is broken or spaced otherwise: case %#", (from, old, said) => {
    expect(refused(from, { old, new: "" })).toContain(said);
  });

  test("name the edit that failed among several", () => {
    expect(refused("a b", { old: "a", new: "c" }, { old: "q", new: "r" })).toMatch(/^edit 2 of 2: /);
  });
});

describe("patches", () => {
  const patched = async (from: string, patch: string, path = "src/a.txt") => {
    const applied = await applyUnifiedPatch(from, patch, path);
    return applied.ok ? applied.text : `refused: ${applied.message}`;
  };
  const patch = "--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";

  test("apply where their context is, also if line numbers are off", async () => {
    expect(await patched("one\ntwo\nthree\n", patch)).toBe("one\nTWO\nthree\n");
    expect(await patched("zero\none\ntwo\nthree\n", patch)).toBe("zero\none\nTWO\nthree\n");
  });

  test("any two texts: the diff between them turns the one into the other, Windows line ends and all", async () => {
    const { createPatch } = await import("diff");
    await fc.assert(
      fc.asyncProperty(text, text, async (from, to) => {
        fc.pre(from !== to);
        const made = createPatch("src/a.txt", from, to);
        expect(await patched(from, made)).toBe(to);
        if (from.includes("\n")) expect(await patched(windows(from), made)).toBe(windows(to));
      }),
      { numRuns: counted },
    );
  });

  test("a last line without an end stays without one, whether the patch says so or not", async () => {
    const bare = "@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n";
    const said =
      "@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+TWO\n\\ No newline at end of file\n";
    for (const each of [bare, said]) {
      expect(await patched("one\ntwo", each)).toBe("one\nTWO");
      expect(await patched("one\r\ntwo", each)).toBe("one\r\nTWO");
    }
  });

  test("mixed line ends of untouched lines stay", async () => {
    expect(await patched("one\r\ntwo\nthree\nfour\r\nfive\r\n", patch)).toBe(
      "one\r\nTWO\r\nthree\nfour\r\nfive\r\n",
    );
  });

  const envelope = (...lines: string[]) =>
    ["*** Begin Patch", "*** Update File: src/a.txt", ...lines, "*** End Patch"].join("\n");

  test("in the form of Codex apply by whole lines, behind their anchors and in order", async () => {
    const from = "ab\na\nkey:\na\nend\n";
    expect(await patched(from, envelope("@@", "-a", "+A"))).toBe("ab\nA\nkey:\na\nend\n");
    expect(await patched(from, envelope("@@ key:", "-a", "+A", " end"))).toBe("ab\na\nkey:\nA\nend\n");
    expect(
      await patched(from, envelope("@@", "-a", "+1", "+2", "@@", "-a", "+3", " end", "*** End of File")),
    ).toBe("ab\n1\n2\nkey:\n3\nend\n");
    expect(await patched(from, envelope("@@ key:", "+new"))).toBe("ab\na\nkey:\nnew\na\nend\n");
    expect(await patched(from, envelope("+last"))).toBe(`${from}last\n`);
    expect(await patched(windows(from), envelope("-a", "+A"))).toBe("ab\r\nA\r\nkey:\r\na\r\nend\r\n");
    expect(await patched(from, envelope("@@", "-nowhere", "+x"))).toMatch(/^refused: hunk 1 does not fit/);
  });

  test.each([
    ["an anchor that is not there", ["@@ def c():", "-  return 1", "+  return 2"], "no line 'def c():'"],
    ["only added lines behind such an anchor", ["@@ nowhere", "+new"], "no line 'nowhere'"],
    [
      "an anchor before the hunk before",
      ["@@ def b():", "-  return 1", "+  return 2", "@@ def a():", "+x"],
      "no line 'def a():' behind line 4",
    ],
    [
      "old lines only before the anchor",
      ["@@ def b():", "-def a():", "+def z():"],
      "hunk 1 does not fit: its old lines are not in the file as they stand behind line 3; they are at line 1",
    ],
    [
      "hunks out of order",
      ["@@", "-def b():", "+def y():", "@@", "-def a():", "+def z():"],
      "hunk 2 does not fit",
    ],
    [
      "old lines that are not the last",
      ["@@", "-def b():", "+def y():", "*** End of File"],
      "at the end of the file",
    ],
    [
      "a line that is neither kept, added nor removed",
      ["@@", "def a():", "+x"],
      "the line 'def a():' begins with neither",
    ],
    [
      "a mark that does not exist",
      ["@@", " def a():", "*** Here", "+x"],
      "the line '*** Here' begins with neither",
    ],
    ["no hunk", ["@@ def a():"], "the patch has no hunk"],
  ])("in the form of Codex are refused with %s", async (_, lines, message) => {
    const from = "def a():\n  return 1\ndef b():\n  return 1\n";
    const said = await patched(from, envelope(...lines));
    expect(said).toMatch(/^refused: /);
    expect(said).toContain(message);
  });

  test("in the form of Codex take the first place behind all anchors, and the end of the file where it says so", async () => {
    const from = "class A:\n  def f():\n    x\nclass B:\n  def f():\n    x\n    x\n";
    const nested = envelope("@@ class B:", "@@   def f():", "-    x", "+    y");
    expect(await patched(from, nested)).toBe(`${from.slice(0, -12)}    y\n    x\n`);
    const last = envelope("@@", "-    x", "+    y", "*** End of File");
    for (const ending of [from, from.slice(0, -1)])
      expect(await patched(ending, last)).toBe(ending.replace(/x(\n?)$/, "y$1"));
    expect(await patched(from, envelope("@@ class A:", "+z", "*** End of File"))).toBe(`${from}z\n`);
  });

  test("in the form of Codex are taken only for the file that they name", async () => {
    const patch = envelope("@@", "-x", "+z");
    for (const path of ["src/a.txt", "./src/a.txt", "project:src/a.txt", "/home/ada/p/src/a.txt"])
      expect(await patched("x\n", patch, path)).toBe("z\n");
    for (const path of ["other.txt", "a.txt", "lib/src/a.txt", "lib/a.txt", "/home/ada/p/xsrc/a.txt"])
      expect(await patched("x\n", patch, path)).toBe(
        `refused: the patch is about src/a.txt, not about ${path}`,
      );
  });

  test("are refused if they do not fit exactly, with what the file has there", async () => {
    expect(await patched("one\n  two\nthree\n", patch)).toMatch(
      /^refused: hunk 1 of 1 does not fit.*but for white space it is in these lines:\n1\tone\n2\t {2}two/s,
    );
  });

  test("are refused if they are about no file, several, another one, or a file's making or end", async () => {
    expect(await patched("x", "just words")).toMatch(/no hunk/);
    expect(await patched("x", `${patch}${patch.replaceAll("a.txt", "b.txt")}`)).toMatch(/about 2 files/);
    expect(await patched("x", patch, "src/other.txt")).toMatch(
      /about b\/src\/a.txt, not about src\/other.txt/,
    );
    expect(await patched("", "--- /dev/null\n+++ b/src/a.txt\n@@ -0,0 +1 @@\n+x\n")).toMatch(/use write/);
    expect(await patched("one\n", "--- a\n+++ b\n@@ -1,9 +1,9 @@\n-one\n+two\n")).toMatch(
      /no valid unified diff/,
    );
  });
});
