import fc from "fast-check";
import { expect, test } from "vitest";
import { aroundDifference, Divergences } from "./divergence.ts";

test("texts are shown around the first place where they differ, and stay short", () => {
  const shared = "the same ".repeat(100);
  const { recorded, now } = aroundDifference(`${shared}old${shared}`, `${shared}new${shared}`);
  expect(recorded).toMatch(/^….*old.*…$/s);
  expect(now).toMatch(/^….*new.*…$/s);
  expect(aroundDifference("a", "b")).toEqual({ recorded: "a", now: "b" });
});

test("whatever the texts, a difference is visible and no character is torn apart", () => {
  const text = fc.string({ unit: "binary", maxLength: 2_000 });
  fc.assert(
    fc.property(text, text, text, (shared, one, other) => {
      const { recorded, now } = aroundDifference(shared + one, shared + other);
      expect(recorded !== now).toBe(one !== other);
      for (const shown of [recorded, now]) {
        expect(shown.length).toBeLessThan(700);
        expect(shown.isWellFormed()).toBe(true);
      }
    }),
  );
});

test("of several divergences the first in the record is the first", () => {
  const found = new Divergences();
  const at = (what: string) => ({ run: "lead", turn: 1, what, recorded: "a", now: "b" });
  found.note(7, at("later"));
  found.note(3, at("earlier"));
  found.note(5, at("between"));
  expect(found.first?.what).toBe("earlier");
});

test("of two divergences at one place the one that was found first is told", () => {
  const found = new Divergences();
  const at = (what: string) => ({ run: "lead", turn: 1, what, recorded: "a", now: "b" });
  found.note(3, at("the cause"));
  found.note(3, at("what follows from it"));
  expect(found.first?.what).toBe("the cause");
});

test("what stands before the difference is shown with it", () => {
  const before = "x".repeat(1_000);
  const { recorded, now } = aroundDifference(`${before}the old end`, `${before}the new end`);
  expect(recorded).toMatch(/^…x+the old end$/);
  expect(now).toMatch(/^…x+the new end$/);
});

test("a divergence is told in pieces that can be read", () => {
  const found = new Divergences();
  const long = "x".repeat(5_000);
  found.note(1, { run: "lead", turn: 1, what: "x", recorded: `${long}a`, now: `${long}b` });
  expect(found.first).toMatchObject({
    recorded: expect.stringMatching(/^…x+a$/),
    now: expect.stringMatching(/^…x+b$/),
  });
  expect(found.first?.recorded.length).toBeLessThan(700);
});
