import { isStopWord, splitWords } from "@retinue/core/text/terms";

const KIND =
  "(?:report|analysis|summary|overview|study|review|briefing|account|survey|digest|write-?up|look|dossier|paper)s?";
const ABOUT = new RegExp(
  `\\b${KIND}\\b[^.?!\\n]{0,60}?(?::|\\s(?:on|about|of|regarding|concerning|into|at|covering|for))\\s+(?:the\\s+(?:topic|subject|question)\\s+of\\s+)?([^\\n]+)`,
  "i",
);
const ASKING =
  /^(?:please|kindly|could you|can you|would you|i (?:want|need|would like)|we (?:want|need)|give|get|show|make|create|write|prepare|generate|produce|compile|draft|do|me|us|a|an|the|to|some|comprehensive|detailed|in-depth|in depth|thorough|full|complete|short|brief|quick|long)\b[\s,]*/i;
const NEWS_OF =
  /^(?:(?:the|all|recent|latest|current)\s+)*(?:news|articles?|sources?|search results?|results?|developments?|papers?|literature)\s+(?:on|about|for|in|of)\s+/i;
const SOURCE_WORDS =
  /\s+(?:(?:based )?on|from|using|with|in|across)\s+(?:the\s+|all\s+|recent\s+|these\s+|my\s+|our\s+)*(?:search results?|sources?|articles?|web|internet|news|documents?|literature|press)\b.*$/i;
const MAX_TOPIC = 160;
const MAX_SLUG = 60;

/** What a report is to be about, without the words that ask for it. */
export function readTopic(request: string): string {
  const [first = ""] = request.trim().split(/\n|(?<=[.?!])\s+(?=\p{Lu})/u);
  const named = ABOUT.exec(first)?.[1];
  let topic = named ?? first;
  for (let before = ""; before !== topic; ) {
    before = topic;
    topic = topic.replace(named === undefined ? ASKING : /^(?:the|a|an)\s+/i, "");
  }
  const bare = topic
    .replace(NEWS_OF, "")
    .replace(SOURCE_WORDS, "")
    .replace(/https?:\/\/\S+/g, " ");
  const tidy = bare.replace(/\s+/g, " ").replace(/^[\s"'“”‘’:,-]+|[\s"'“”‘’.?!:,;-]+$/g, "");
  return (tidy || first.trim()).slice(0, MAX_TOPIC);
}

/** The words of a topic that can be searched for one by one. */
export function listTopicWords(topic: string): string[] {
  return [...new Set(splitWords(topic).filter((word) => word.length > 3 && !isStopWord(word)))];
}

/** A topic as a heading. */
export function toTitle(topic: string): string {
  return topic.charAt(0).toUpperCase() + topic.slice(1);
}

/** A topic as the name of a file. */
export function toFileName(topic: string): string {
  const words =
    topic
      .normalize("NFKD")
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, MAX_SLUG).replace(/-$/, "") || "report";
}

/** Whether a request wants the pages themselves to be read, not only what a search shows of them. */
export function wantsDepth(request: string): boolean {
  return /\b(?:comprehensive|detailed|in[- ]depth|thorough|extensive|exhaustive|full|complete)\b/i.test(
    request,
  );
}

/** One result of a search, as it stands in a conversation. */
export type Hit = { readonly title: string; readonly url: string; readonly snippet: string };

const HIT = /^\d{1,3}\. (.+)\n {3}(https?:\/\/\S+)(?:\n {3}(.*))?$/gm;
const ADDRESS = /https?:\/\/[^\s<>"'`)\]}]+/g;

/** The results in a text that `web_search` or `listHits` wrote, each address once. */
export function readHits(text: string): Hit[] {
  const hits = new Map<string, Hit>();
  for (const [, title = "", url = "", snippet = ""] of text.matchAll(HIT))
    if (!hits.has(url)) hits.set(url, { title, url, snippet: snippet.trim() });
  return [...hits.values()];
}

/** Results as a numbered list. */
export function listHits(hits: readonly Hit[]): string {
  return hits
    .map(({ title, url, snippet }, at) => `${at + 1}. ${title}\n   ${url}\n   ${snippet}`)
    .join("\n");
}

/** All addresses in a text, each once, without the marks of the sentence they stand in. */
export function findUrls(text: string): string[] {
  const found = [...text.matchAll(ADDRESS)].map(([address]) => address.replace(/[.,;:!?]+$/, ""));
  return [...new Set(found)];
}
