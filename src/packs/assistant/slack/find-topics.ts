import { keyPhrases } from "../../../text/key-phrases.ts";
import { sentencesOf } from "./find-statements.ts";
import type { SlackMessage } from "./slack-provider.ts";

/** What several messages are about. */
export type Topic = { readonly topic: string; readonly messages: readonly SlackMessage[] };

const MOST_TOPICS = 6;
/** What is no prose: code, addresses, mentions, channel names, picture names. */
const NO_PROSE = /```[\s\S]*?```|`[^`]*`|https?:\/\/\S+|[@#][\w.-]+|:[\w+-]+:/g;

/** The phrases that most messages share, the most telling first. */
export function findTopics(messages: readonly SlackMessage[]): readonly Topic[] {
  const names = new Set(messages.flatMap(({ user }) => user.name.toLowerCase().split(/[^\p{L}\p{N}]+/u)));
  const said = messages.flatMap((message) =>
    sentencesOf(message.text.replaceAll(NO_PROSE, " . ")).map((sentence) => ({ sentence, message })),
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
