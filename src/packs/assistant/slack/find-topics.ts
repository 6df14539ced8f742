import { keyPhrases } from "../../../text/key-phrases.ts";
import { cutAt } from "../../../tools/truncate.ts";
import { sentencesOf } from "./find-statements.ts";
import type { SlackMessage } from "./slack-provider.ts";

/** What several messages are about. */
export type Topic = { readonly topic: string; readonly messages: readonly SlackMessage[] };

const MOST_TOPICS = 6;
/** What is no prose: code, addresses, mentions, channel names, picture names, and what is longer than any word. */
const NO_PROSE = /```[\s\S]*?```|`[^`]*`|https?:\/\/\S+|[@#][\w.-]+|:[\w+-]+:|\S{60,}/g;
/** Characters of one message, and of the newest messages together, that topics are looked for in. */
const MAX_MESSAGE = 4_000;
const MAX_TOTAL = 500_000;

/** The phrases that most messages share, the most telling first. */
export function findTopics(messages: readonly SlackMessage[]): readonly Topic[] {
  const names = new Set(messages.flatMap(({ user }) => user.name.toLowerCase().split(/[^\p{L}\p{N}]+/u)));
  const said = newest(messages).flatMap((message) =>
    sentencesOf(cutAt(message.text, MAX_MESSAGE).replaceAll(NO_PROSE, " . ")).map((sentence) => ({
      sentence,
      message,
    })),
  );
  return keyPhrases(said.map(({ sentence }) => sentence))
    .filter(({ text }) => !text.split(" ").every((word) => names.has(word.toLowerCase())))
    .map(({ text, sentences }) => {
      const using = sentences.flatMap((at) => said[at]?.message ?? []);
      return { topic: text, messages: [...new Set(using)] };
    })
    .filter(({ messages: using }) => using.length >= 2)
    .slice(0, MOST_TOPICS);
}

/** As many of the newest messages as there is time for, in their order. */
function newest(messages: readonly SlackMessage[]): readonly SlackMessage[] {
  let left = MAX_TOTAL;
  const chosen = new Set(
    messages
      .toSorted((a, b) => Number(b.ts) - Number(a.ts))
      .filter(({ text }) => {
        left -= Math.min(text.length, MAX_MESSAGE);
        return left >= 0;
      }),
  );
  return messages.filter((message) => chosen.has(message));
}
