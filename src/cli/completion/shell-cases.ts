import type { CommandEntry, FlagEntry, Values } from "./command-table.ts";

/** Text in single quotes, as bash and zsh read it. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Values as one word for the shell functions: `@sessions`, `@files`, a list of words, or nothing. */
export function valueWord(values: Values): string {
  if (values.kind === "words") return values.words.join(" ");
  if (values.kind === "names") return `@${values.of}`;
  return values.kind === "anything" ? "" : `@${values.kind}`;
}

/** A `case` that answers a question about a place; those with the same answer share a line. */
export function caseOf(
  answers: readonly (readonly [pattern: string, answer: string])[],
  otherwise: string,
): string {
  const byAnswer = Map.groupBy(answers, ([, answer]) => answer);
  const lines = [...byAnswer].map(
    ([answer, group]) => `    ${group.map(([pattern]) => pattern).join("|")}) ${answer} ;;`,
  );
  return ["  case $1 in", ...lines, `    *) ${otherwise} ;;`, "  esac"].join("\n");
}

/** What each flag of each command takes, as answers; a flag that takes the same everywhere has one pattern. */
export function flagAnswers(
  table: readonly CommandEntry[],
  answer: (word: string) => string,
): [string, string][] {
  const uses = table.flatMap(({ path, flags }) =>
    flags.flatMap((flag) => flag.spellings.map((spelling) => ({ path, spelling, word: wordOf(flag) }))),
  );
  const answers = new Map<string, string>();
  for (const { path, spelling, word } of uses) {
    if (word === undefined) continue;
    const isSame = uses.every((each) => each.spelling !== spelling || each.word === word);
    answers.set(isSame ? `*${quoted(`|${spelling}`)}` : quoted(`${path}|${spelling}`), answer(word));
  }
  return [...answers];
}

/** What the arguments of each command are, as answers by position. */
export function argumentAnswers(
  table: readonly CommandEntry[],
  answer: (word: string) => string,
): [string, string][] {
  return table.flatMap(({ path, values, isVariadic }) =>
    values.flatMap((each, index): [string, string][] => {
      const word = valueWord(each);
      const position = isVariadic && index === values.length - 1 ? "*" : String(index);
      const pattern = position === "*" ? `${quoted(`${path}|`)}*` : quoted(`${path}|${position}`);
      return word === "" ? [] : [[pattern, answer(word)]];
    }),
  );
}

function wordOf({ value }: FlagEntry): string | undefined {
  return value && valueWord(value);
}
