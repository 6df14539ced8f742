import type { PlanStep } from "../../../../../src/schema/plan.ts";

/** What the server has against a draft: by the ids of the steps that it is about, and what is about the whole. */
export type PlanProblems = { steps: ReadonlyMap<string, readonly string[]>; general: readonly string[] };

/** Sentences such as `available: …` go on with the one before. */
const GOES_ON = /^(?:available|steps|ids): /;

/** Takes a refusal apart, so that each sentence can stand at its step. */
export function planProblems(message: string, steps: readonly Pick<PlanStep, "id">[]): PlanProblems {
  const found = new Map<string, string[]>();
  const general: string[] = [];
  for (const sentence of sentencesOf(message)) {
    const about = stepsOf(sentence, steps);
    for (const id of about)
      found.set(id, [...new Set([...(found.get(id) ?? []), inWords(withoutPlace(sentence))])]);
    if (about.length === 0) general.push(sentence);
  }
  return { steps: found, general };
}

function sentencesOf(message: string): string[] {
  const said = message.replace(/^(?:the plan is not valid|the body cannot be used): /, "");
  const sentences: string[] = [];
  for (const part of said.split("; ")) {
    const last = sentences.at(-1);
    if (last !== undefined && GOES_ON.test(part)) sentences[sentences.length - 1] = `${last}; ${part}`;
    else sentences.push(part);
  }
  return sentences;
}

function stepsOf(sentence: string, steps: readonly Pick<PlanStep, "id">[]): string[] {
  const index = /^steps\.(\d+)(?:\.|:)/.exec(sentence)?.[1];
  const at = index === undefined ? undefined : steps[Number(index)];
  if (at) return [at.id];
  const circle = /in a circle: (.+)$/.exec(sentence)?.[1]?.split(" → ") ?? [];
  const named = /(?:step|task|the id) '([^']+)'/.exec(sentence)?.[1];
  const ids = new Set([...circle, ...(named === undefined ? [] : [named])]);
  return [...new Set(steps.map(({ id }) => id))].filter((id) => ids.has(id));
}

const PLACES: readonly [RegExp, string][] = [
  [/^steps\.\d+\.successCriteria(?:\.\d+)?: /, "success criteria: "],
  [/^steps\.\d+\.dependsOn(?:\.\d+)?: /, "waits for: "],
  [/^steps\.\d+\.estimate\.toolCalls: /, "tool calls: "],
  [/^steps\.\d+\./, ""],
  [/^(?:step|task) '[^']+' /, ""],
];

/** The sentence as it reads at the step itself. */
function withoutPlace(sentence: string): string {
  for (const [place, words] of PLACES) if (place.test(sentence)) return sentence.replace(place, words);
  return sentence;
}

/** What a schema says, as people would. */
function inWords(sentence: string): string {
  return sentence
    .replace(/^tasks depend/, "steps depend")
    .replace(/: String is too short.*$/, " must not be empty")
    .replace(/: String does not match pattern.*$/, " must not be empty")
    .replace(/: Array has too few items.*$/, " need at least one line")
    .replace(/: String is too long.*$/, " is too long");
}
