import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { keyPhrases } from "./key-phrases.ts";
import { clusterTexts, likeness, linksBetween, pickDiverse, rankTexts, termVectors } from "./rank-texts.ts";

const SENTENCES = [
  "The failure rate of a disk grows with its age.",
  "A high failure rate was seen in the first year.",
  "The failure rate is published by the makers of disks.",
  "A snapshot is taken every hour of the day.",
  "Each snapshot is kept for a month by the store.",
  "The snapshot of the night is copied elsewhere.",
];

describe("key phrases", () => {
  test("are what several sentences use, longer ones before their parts", () => {
    const phrases = keyPhrases(SENTENCES);
    expect(phrases[0]).toMatchObject({ text: "failure rate", sentences: [0, 1, 2] });
    expect(phrases.map(({ text }) => text)).toContain("snapshot");
    expect(phrases.map(({ text }) => text)).not.toContain("failure");
  });

  test("are no verbs, adverbs or words that are in every text", () => {
    const texts = [
      "They often delete logs quickly.",
      "People delete the year quickly.",
      "We often delete it quickly.",
    ];
    expect(keyPhrases(texts)).toEqual([]);
  });

  test("can be found in any text", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "binary" }), { maxLength: 8 }), (texts) => {
        for (const { sentences } of keyPhrases(texts)) expect(sentences.length).toBeGreaterThan(1);
      }),
    );
  });
});

test("texts are grouped with what they are like, each at most once, and what is like nothing stays out", () => {
  const vectors = termVectors([...SENTENCES, "Bananas ripen beside apples."]);
  const groups = clusterTexts(vectors, [[0, 1], [3]], 0.1);
  expect(groups).toEqual([
    [0, 1, 2],
    [3, 4, 5],
  ]);
});

test("links are the likeness of every pair that shares a term", () => {
  const texts = fc.array(fc.lorem({ maxCount: 6 }), { maxLength: 12 });
  fc.assert(
    fc.property(texts, (list) => {
      const vectors = termVectors(list);
      for (const [at, { others, strengths }] of linksBetween(vectors).entries()) {
        const own = vectors[at] ?? new Map();
        const alike = vectors.flatMap((vector, other) =>
          other !== at && likeness(own, vector) > 0 ? [[other, likeness(own, vector)]] : [],
        );
        expect([...others]).toEqual(alike.map(([other]) => other));
        for (const [index, [, strength]] of alike.entries())
          expect(strengths[index]).toBeCloseTo(strength ?? 0, 9);
      }
    }),
  );
});

test("weights are positive and add up to no more than 1, and picking never takes one twice", () => {
  fc.assert(
    fc.property(fc.array(fc.lorem({ maxCount: 6 }), { minLength: 1, maxLength: 20 }), (list) => {
      const vectors = termVectors(list);
      const weights = rankTexts(
        vectors,
        list.map(() => 1),
      );
      expect(weights.every((weight) => weight > 0)).toBe(true);
      expect(weights.reduce((sum, weight) => sum + weight, 0)).toBeLessThanOrEqual(1 + 1e-9);
      const picked = pickDiverse(vectors, weights, { count: 5, allowed: (at) => at % 2 === 0 });
      expect(new Set(picked).size).toBe(picked.length);
      expect(picked.every((at) => at % 2 === 0)).toBe(true);
    }),
  );
});
