import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Article } from "../corpus.ts";
import { findFigures, readCell } from "./figures.ts";
import { findQuotes } from "./synthesise.ts";

describe("figures", () => {
  test.each([
    ["It fell by 7 % in 2024.", ["7 %"]],
    ["Between 1.4 and 2.1 percent failed.", ["2.1 percent"]],
    ["It costs $3.2 million, or €18 per TB.", ["$3.2 million", "€18"]],
    ["2 % to 3 % of 41,300 disks", ["2 % to 3 %", "41,300 disks"]],
    ["A rebuild of 20 TB takes 24 to 40 hours.", ["20 TB", "24 to 40 hours"]],
    ["It added 38 ms, 12 times as much.", ["38 ms", "12 times"]],
    ["In 2024 operators met in room 12.", []],
    ["Version 1.2.3 of RFC-9309 and A4", []],
    ["6.1 million passengers in 15 large cities", ["6.1 million passengers", "15 large cities"]],
    ["eleven nines, or 11 nines", ["11 nines"]],
  ])("in %j are %j", (text, figures) => {
    expect(findFigures(text).map((figure) => figure.text)).toEqual(figures);
  });

  test("of like units can be compared", () => {
    expect(findFigures("2 TB and 500 GB").map(({ amount, unit }) => [amount, unit])).toEqual([
      [2e12, "bytes"],
      [5e11, "bytes"],
    ]);
  });

  test("stand in the text where they say, and do not overlap", () => {
    const piece = fc.oneof(
      fc.nat(5_000).map(String),
      fc.constantFrom("%", " ", "TB", "$", "million", "disks", ",", "to", "-"),
    );
    fc.assert(
      fc.property(
        fc.array(piece).map((pieces) => pieces.join(" ")),
        (text) => {
          let end = 0;
          for (const figure of findFigures(text)) {
            expect(figure.at).toBeGreaterThanOrEqual(end);
            expect(text.slice(figure.at, figure.at + figure.text.length)).toBe(figure.text);
            end = figure.at + figure.text.length;
          }
        },
      ),
    );
  });

  test.each([
    ["58 %", { amount: 58, unit: "%" }],
    ["€2,900", { amount: 2900, unit: "€" }],
    ["1.5", { amount: 1.5, unit: "" }],
    ["6 + 3", null],
    ["none", null],
    ["", null],
  ])("the cell %j is %j", (cell, figure) => {
    expect(readCell(cell)).toEqual(figure);
  });
});

describe("quotations", () => {
  const quotes = (content: string) =>
    findQuotes([{ url: "https://e.example/", title: "", content, status: "success" } satisfies Article]).map(
      ({ text, speaker, role }) => [text, speaker, role],
    );

  test.each([
    [
      "“Nobody should ever need four tabs for this,” said Dana Whitlock, director of the Forum.",
      ["Nobody should ever need four tabs for this", "Dana Whitlock", "director of the Forum"],
    ],
    [
      '"Nobody should ever need four tabs for this," Dana van der Berg says.',
      ["Nobody should ever need four tabs for this", "Dana van der Berg", undefined],
    ],
    [
      "Dr. Mara Lind, a researcher, said: “Nobody should ever need four tabs for this.”",
      ["Nobody should ever need four tabs for this.", "Mara Lind", "a researcher"],
    ],
  ])("%j has a speaker", (content, quote) => {
    expect(quotes(content)).toEqual([quote]);
  });

  test("without a speaker, or of a few words, are none", () => {
    expect(quotes("“Nobody should ever need four tabs for this,” it said there.")).toEqual([]);
    expect(quotes("The so-called “nines” said Dana Whitlock.")).toEqual([]);
  });
});

test("a cell too long for a number is none, however many digits it has", () => {
  expect(readCell(`${"1".repeat(200_000)}x1`)).toBeNull();
  expect(readCell("$1,200")).toEqual({ amount: 1_200, unit: "$" });
});
