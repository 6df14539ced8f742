import { splitSentences } from "@retinue/core/text/split-sentences";
import { cutAt } from "@retinue/core/tools/truncate";
import type { SlackMessage } from "./slack-provider.ts";

/** One sentence of a conversation that matters. */
export type Statement = { readonly text: string; readonly message: SlackMessage };

/** What was settled, asked and promised. */
type Statements = {
  readonly decisions: readonly Statement[];
  readonly openQuestions: readonly Statement[];
  readonly actionItems: readonly Statement[];
};

type Kind = "decision" | "question" | "action" | "other";
/** A message and what it says. */
type Read = {
  readonly message: SlackMessage;
  readonly said: readonly { readonly text: string; readonly kind: Kind }[];
  /** Something in it may answer a question. */
  readonly answers: boolean;
};

const DECISION =
  /\b(?:(?:we|i|team|they|it)(?:'ve| have| has|'s| is| was)?(?: now| all| finally)? decided|decided(?: to| on| against| that|:)|decision(?: is|:| made)|(?:we'll|we will|we're going to|let's|i'd say we|we) (?:just )?(?:go|going|went) (?:with|for|ahead)|going with|we(?:'ve| have)? agreed|^agreed\b|agreed (?:to|on|that)|settled on|signed off|it's settled|final answer|(?:is|are|was|were) approved|^approved\b)/i;
const UNDECIDED =
  /\b(?:not|n't|never|nothing|undecided|before|until|once|if|unless|whether)\b[^.]*\b(?:decid|agree|settle|approv)|\bundecided\b|\bto be decided\b/i;
const PROMISE =
  /\b(?:i'll|i will|i'm going to|i am going to|let me)\b(?! (?:be\b|never|not|say|admit|know|see\b))/i;
const REQUEST =
  /\b(?:can|could|would|will) (?:you|someone|somebody|anyone|@[\w.-]+)\b|(?:^|[,.:;–—-] ?|@[\w.-]+:? )(?:please|pls) \w|@[\w.-]+:? (?:to|will|please|needs to|must)\b/i;
const MARKED = /\b(?:to-?do|action(?: item)?)\s*:/i;
const NO_ANSWER =
  /^(?:good question|no idea|not sure|i(?:'m| am) not sure|i don't know|don't know|dunno|same question|\+1|following|let me (?:check|ask|find out)|i'll (?:check|ask|find out|look)|will (?:check|find out)|hm+|anyone)\b/i;
const DONE_REACTIONS: ReadonlySet<string> = new Set([
  "white_check_mark",
  "heavy_check_mark",
  "ballot_box_with_check",
  "✅",
  "✔️",
]);
const LEAST_QUESTION_WORDS = 3;
const BARE_WORDS = 3;
/** Characters of a sentence that its kind is told by. */
const MAX_SENTENCE = 500;
/** Characters of a message that are looked at. */
const MAX_MESSAGE = 12_000;

/** Finds decisions, questions nobody answered in their thread, and promises or requests, by how they are worded. */
export function findStatements(messages: readonly SlackMessage[]): Statements {
  const decisions: Statement[] = [];
  const openQuestions: Statement[] = [];
  const actionItems: Statement[] = [];
  for (const thread of groupThreads(messages)) {
    for (const [at, { message, said }] of thread.entries()) {
      const open = said.some(({ kind }) => kind === "question") && isOpen(message, thread.slice(at + 1));
      for (const { text, kind } of said) {
        if (kind === "decision") decisions.push({ text: inContext(text, thread[at - 1]), message });
        else if (kind === "action") actionItems.push({ text, message });
        else if (kind === "question" && open) openQuestions.push({ text, message });
      }
      const [first] = said;
      if (first && isTicked(message) && said.every(({ kind }) => kind === "other"))
        decisions.push({ text: first.text, message });
    }
  }
  return { decisions, openQuestions, actionItems };
}

/** The sentences of a message; a new line ends one too, and so does a stop before a mention. */
export function splitMessage(text: string): string[] {
  return cutAt(text, MAX_MESSAGE)
    .split(/\n+|(?<=[.!?])\s+(?=@)/)
    .map((line) => line.replace(/^\s*(?:[>*•-]|\d+[.)])\s+/, ""))
    .flatMap(splitSentences);
}

/** Messages by thread, in the order in which the threads begin; each is taken apart once. */
function groupThreads(messages: readonly SlackMessage[]): readonly (readonly Read[])[] {
  const threads = Map.groupBy(messages, ({ threadTs, ts }) => threadTs ?? ts);
  return [...threads.values()].map((thread) =>
    thread.toSorted((a, b) => Number(a.ts) - Number(b.ts)).map(read),
  );
}

function read(message: SlackMessage): Read {
  const said = splitMessage(message.text).map((text) => ({ text, kind: judgeSentence(text) }));
  const answers = said.some(
    ({ text }) => !text.endsWith("?") && !NO_ANSWER.test(text.slice(0, MAX_SENTENCE).replaceAll("’", "'")),
  );
  return { message, said, answers };
}

function judgeSentence(sentence: string): Kind {
  const asks = /\?["')\]]*$/.test(sentence);
  const text = sentence.slice(0, MAX_SENTENCE).replaceAll("’", "'");
  if (REQUEST.test(text) || MARKED.test(text)) return "action";
  if (asks) return text.split(/\s+/).length >= LEAST_QUESTION_WORDS ? "question" : "other";
  if (DECISION.test(text) && !UNDECIDED.test(text)) return "decision";
  return PROMISE.test(text) ? "action" : "other";
}

/** Nobody else has said anything in the thread since, but another question or that they do not know. */
function isOpen(question: SlackMessage, later: readonly Read[]): boolean {
  if (isTicked(question)) return false;
  return !later.some(({ message: { user }, answers }) => answers && user.id !== question.user.id);
}

/** "Agreed." says nothing by itself: what was agreed to stands before it. */
function inContext(text: string, before: Read | undefined): string {
  const first = before?.said[0]?.text;
  if (!before || !first || text.split(/\s+/).length > BARE_WORDS) return text;
  return `${text} (${before.message.user.name}: ${first})`;
}

function isTicked({ reactions }: SlackMessage): boolean {
  return reactions.some(({ name, count }) => count > 0 && DONE_REACTIONS.has(name));
}
