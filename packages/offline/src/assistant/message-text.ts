import { isOpenEnded } from "./cautions.ts";
import { capitalise, QUOTE, type Wording } from "./wording.ts";

/** What a message is to say, and what is left of the request without it. */
export type MessageText = {
  readonly head: string;
  readonly subject?: string;
  readonly body?: string;
  /** The request announces a text and has none. */
  readonly empty: boolean;
  /** The text was not in quotation marks, so where it ends is a guess. */
  readonly loose: boolean;
  /** Only some of the text is in quotation marks. */
  readonly mixed: boolean;
};

const SUBJECT = new RegExp(
  `[\\s,]*(?:\\band )?(?:\\bwith )?(?:(?:the|a) )?\\b(?:subject|title)(?: line)?(?: is| of)?:? (?:(${QUOTE})|([^,${"\ue000"}]+?))(?=,| and (?:the )?(?:text|body|message|say)| saying| with (?:the )?(?:text|body)|$)`,
  "iu",
);
const HIM = "(?:him|her|them)";
const MARKS = [
  `saying|says?|that (?:says|reads)|which (?:says|reads)|telling ${HIM}|to tell ${HIM}|tell ${HIM}|to say|to let ${HIM} know|let(?:ting)? ${HIM} know`,
  `(?:with )?(?:the )?(?:text|body|message|words)(?=:| ${QUOTE})`,
].join("|");
const BODY = new RegExp(`[\\s,]*(?:\\band )?\\b(?:${MARKS})\\b(?: that\\b)?:?(?:\\s+(.*))?$`, "iu");
const COLON = /:\s+(.+)$/u;
const WITH_QUOTE = new RegExp(`\\s+with (${QUOTE})$`, "u");
const THAT = /\s+that\s+(.+)$/iu;
const ABOUT = /[\s,]+\b(?:about|regarding|concerning|re:?|on the subject of)\s+(.+)$/iu;
const ALONE = new RegExp(`^${QUOTE}$`, "u");

/** Takes subject and text out of a request to write something. Marks decide, in the order of how plainly they speak. */
export function takeMessageText(request: Wording): MessageText {
  let head = request.head;
  const named = SUBJECT.exec(head);
  if (named) head = cut(head, named);
  const found = BODY.exec(head) ?? WITH_QUOTE.exec(head) ?? COLON.exec(head) ?? THAT.exec(head);
  if (found) head = cut(head, found);
  const about = ABOUT.exec(head);
  if (about) head = cut(head, about);
  const words = found?.[1]?.trim() ?? "";
  const subject = named?.[1] ?? named?.[2] ?? about?.[1];
  const body = request.restore(words);
  return {
    head: head.replace(/[\s,]+$/, ""),
    ...(subject && { subject: subjectLine(request.restore(subject)) }),
    ...(body && { body: ALONE.test(words) ? body : capitalise(body) }),
    empty: found !== null && body === "",
    loose: words !== "" && !ALONE.test(words),
    mixed: new RegExp(QUOTE).test(words) && !ALONE.test(words),
  };
}

function cut(text: string, match: RegExpExecArray): string {
  return `${text.slice(0, match.index)}${text.slice(match.index + match[0].length)}`;
}

function subjectLine(text: string): string {
  return capitalise(text.replace(/^(?:the|our|my|a|an)\s+/i, "").replace(/[\s,.]+$/, ""));
}

/** Whether a text without quotation marks may hold more than the text, so that nobody can tell where it ends. */
export function mayHoldMore({ body = "", subject = "", loose, mixed }: MessageText): boolean {
  return mixed || (loose && isOpenEnded(body)) || isOpenEnded(subject);
}
