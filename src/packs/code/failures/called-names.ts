import type { Line } from "../offline/read-code.ts";

/** What tests call to state something, and what every program calls: nothing of the project's own. */
const NOT_OWN = new Set(
  `expect assert equal strictEqual deepEqual deepStrictEqual notEqual ok throws doesNotThrow rejects match test it describe
  require import await async function return if for while switch catch typeof new super String Number Boolean Symbol
  BigInt JSON Object Array Promise Math Date Map Set Error RegExp console parseInt parseFloat print len range str int float
  list dict isinstance assertEqual assertTrue assertFalse assertRaises raises fn mock vi jest t`.split(/\s+/),
);
const NAME = "[\\p{L}_$][\\p{L}\\p{N}_$]*";
const LOOK_BACK = 30;

/**
 * Names of the project's own functions that a failing line calls, in the order they stand. If it calls none, those that
 * made the values it looks at.
 */
export function calledNames(lines: readonly Line[], at: number): string[] {
  const index = lines.findIndex((line) => line.at === at);
  const text = lines[index]?.text ?? "";
  const direct = callsIn(text);
  if (direct.length > 0) return direct;
  const before = lines.slice(Math.max(0, index - LOOK_BACK), index).reverse();
  return [...new Set(valuesIn(text).flatMap((value) => callsIn(assignmentOf(value, before))))];
}

function callsIn(text: string): string[] {
  const calls = [...withoutStrings(text).matchAll(new RegExp(`(\\.)?(${NAME})\\s*(?:<[^<>()]*>)?\\(`, "gu"))];
  const own = calls.filter(([, , name = ""]) => !NOT_OWN.has(name) && !/^(?:to[A-Z]|assert)/.test(name));
  const functions = own.filter(([, dot]) => dot === undefined);
  return [...new Set((functions.length > 0 ? functions : own).map(([, , name = ""]) => name))];
}

function valuesIn(text: string): string[] {
  return [...new Set(withoutStrings(text).match(new RegExp(`(?<!\\.)${NAME}`, "gu")) ?? [])].filter(
    (name) => !NOT_OWN.has(name),
  );
}

/** The right side of the last assignment to a name. */
function assignmentOf(name: string, before: readonly Line[]): string {
  const escaped = name.replaceAll("$", "\\$");
  const assigns = new RegExp(
    `(?:[{,[]\\s*${escaped}\\s*[,}\\]:][^=]*|\\b${escaped}\\s*(?::[^=]+)?)=(?![=>])(.*)$`,
    "u",
  );
  for (const { text } of before) {
    const right = assigns.exec(text)?.[1];
    if (right !== undefined) return right;
  }
  return "";
}

function withoutStrings(text: string): string {
  return text.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`(?:\\.|[^`\\])*`/g, '""').replace(/\/\/.*$/, "");
}
