import type { Trigger } from "../../schema/agent.ts";
import { badValue, isMap, type ReadContext, readMap, readNames } from "./read-values.ts";

const ACCEPTED = "a word, or a map such as {word: summary, with: [article], not: [code]}";

/** Words that mark a request, plain or with what must and must not stand beside them; "bad" when it is no list. */
export function readTriggers(ctx: ReadContext, value: unknown): (string | Trigger)[] | "bad" {
  if (!Array.isArray(value)) {
    const words = readNames(value);
    return words === "bad" ? "bad" : wordsIn(words);
  }
  return value.flatMap((item: unknown, index): (string | Trigger)[] => {
    if (typeof item === "string") return wordsIn([item]);
    const found = isMap(item) ? readTrigger(ctx, `delegation.triggers.${index}`, item) : undefined;
    if (found === undefined)
      badValue(ctx, `delegation.triggers.${index}`, {
        value: item,
        accepted: ACCEPTED,
        instead: "it is ignored",
      });
    return found ?? [];
  });
}

function readTrigger(ctx: ReadContext, path: string, item: Record<string, unknown>): Trigger[] | undefined {
  const map = readMap(ctx, path, item, ["word", "with", "not"]);
  if (map === undefined || map === "bad") return undefined;
  const [words, besides, without] = [map.word, map.with, map.not].map(readNames);
  if (words === undefined || words === "bad" || besides === "bad" || without === "bad") return undefined;
  const found = wordsIn(words);
  // A list that says nothing must not turn a narrow trigger into a wide one.
  if (found.length === 0 || (besides && wordsIn(besides).length === 0)) return undefined;
  return found.map((word) => ({
    word,
    ...(besides && { with: wordsIn(besides) }),
    ...(without && { not: wordsIn(without) }),
  }));
}

function wordsIn(words: readonly string[] = []): string[] {
  return words.map((word) => word.trim()).filter((word) => word !== "");
}
