import { type Doubt, doubt } from "./domains.ts";

/** Characters that hide or turn around what a person sees. */
const HIDDEN =
  /[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0]|[\ufe00-\ufe0e]|[\u{e0000}-\u{e0fff}]|(?<!\p{Extended_Pictographic}\ufe0f?)\u200d/u;
/** Letters of two alphabets in one word: the look-alikes of forged addresses. */
const MIXED =
  /(?<![\p{L}\p{N}@.-])(?=[\p{L}\p{N}@.-]*\p{Script=Latin})(?=[\p{L}\p{N}@.-]*[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}])[\p{L}\p{N}@.-]+/u;
const ENCODED =
  /(?<![\w+/@.-])(?=[A-Za-z0-9+/]*[a-z])(?=[A-Za-z0-9+/]*[A-Z])[A-Za-z0-9+/]{28,}={0,2}|\b(?:[0-9a-f]{2}){24,}\b|\bbase ?64\b|\brot13\b/;
const OVERRIDES =
  /\b(?:ignore|disregard|forget|override|bypass|discard)\b[^.\n]{0,40}\b(?:instructions?|rules?|prompts?|guidelines?|polic(?:y|ies)|restrictions?|guards?|safety|approvals?)\b|\byou are (?:now|no longer)\b|\byou are \w+ now\b|\b(?:developer|god|admin|debug|maintenance) mode\b|\bjailbreak|\bsystem prompt\b|\bnew instructions\b|\bas (?:your|an?|the) (?:admin\w*|developer|creator|owner|operator|system)\b|^\s*(?:system|assistant|developer)\s*:|<\/?\s*(?:system|assistant|instructions?|tool|user|inst)\b|\[\/?inst\]|\bdear (?:assistant|ai|agent|model)\b|\b(?:ai|assistant) (?:must|should|has to|is ordered)\b/im;
const BEHIND_BACK =
  /\bwithout (?:asking|telling|confirm\w*|approv\w*|permission|notice|anyone (?:knowing|noticing)|the user)\b|\b(?:do not|don['’]?t|never) (?:tell|ask|inform|notify|alert|confirm|show|mention|log|record|warn)\b|\bsecretly\b|\bsilently\b|\bcovertly\b|\bhidden from\b|\b(?:already|pre-?) ?(?:been )?(?:approved|authori[sz]ed|confirmed)\b|\bno (?:confirmation|approval) (?:is )?needed\b/i;
const FOLLOWED =
  /\b(?:do|follow|obey|execute|carry out|perform) (?:what|as|whatever|everything) (?:it|he|she|they|the \w+) (?:says?|asks?|wants?|tells?|reads?)\b|\b(?:follow|obey|execute|carry out) (?:it|that|this|them|the (?:instructions?|commands?|orders?|steps?))\b|\bdo (?:it|so|that) now\b|\bdo it\b\W*$|\b(?:decode|decrypt|deobfuscate|unscramble)\b/i;
const EVERYTHING =
  /\b(?:all|every|entire|whole|everything|everyone|any and all|each|complete|contents? of)\b[^.\n]{0,30}\b(?:e-?mails?|mails?|inbox|mailbox|messages?|contacts?|address ?book|calendars?|events?|meetings?|appointments?|channels?|files?|data|histor(?:y|ies)|conversations?|threads?)\b/i;
const MOVES =
  /\b(?:forward|send|export|dump|upload|share|post|publish|leak|transfer|back ?up|delete|remove|cancel|wipe|clear|erase|purge|destroy|invite|make|bcc|cc|announce|spam|blast)\b|(?:^|\band\s+|\bthen\s+|[,.]\s*)e?-?mail\b/i;
const WIPES =
  /\b(?:wipe|purge|erase|clear|empty|destroy)\b[^.\n]{0,20}\b(?:calendar|inbox|mailbox|contacts?|channels?|everything)\b/i;
const SECRETS =
  /\b(?:passwords?|passcodes?|api[ -]?keys?|secret keys?|private keys?|(?:access|auth|api|bearer|session)[ -]?tokens?|my tokens?|bank details|account numbers?|credentials?|2fa|one-time codes?|recovery codes?|ssh keys?|credit card|cvv|social security)\b|\bsk-[\w-]{10,}/i;
const PASSED_ON =
  /\b(?:send|forward|post|mail|e-?mail|share)\s+(?:whatever|anything|what(?:ever)? you find|the results?|its contents?)\b/i;
const HEADER_LINES = /\n[ \t]*(?:bcc|cc|to|from|reply-to|subject|content-type)\s*:/i;

/** Signs that a text wants to be obeyed rather than read, or to have far more done than one request may; all of it is looked at, quotations too. */
export function findHostileSign(text: string): Doubt | undefined {
  const say = (what: string) => doubt("a plain request", `${what}, so nothing was planned.`);
  if (HIDDEN.test(text)) return say("The request holds characters that cannot be seen");
  if (MIXED.test(text)) return say("The request mixes alphabets within one word");
  if (ENCODED.test(text)) return say("The request holds encoded text");
  if (OVERRIDES.test(text)) return say("The request speaks as if it could set the rules");
  if (BEHIND_BACK.test(text)) return say("The request wants something done behind the person's back");
  if (FOLLOWED.test(text)) return say("The request wants a quoted or encoded text to be obeyed");
  if (HEADER_LINES.test(text)) return say("The request carries lines that look like a mail's header");
  if (WIPES.test(text) || (EVERYTHING.test(text) && MOVES.test(text)))
    return say("The request is about everything at once");
  if (SECRETS.test(text) && MOVES.test(text)) return say("The request would pass on secrets");
  if (PASSED_ON.test(text)) return say("The request would pass on what nobody has seen yet");
  return undefined;
}

const NEGATED =
  /\b(?:do not|don['’]?t|dont|never|no need|needn['’]t|should ?n['’]t|should not|must not|mustn['’]t|shall not|won['’]?t|wouldn['’]?t|can['’]?t|cannot|no (?:circumstances|way)|not necessary|avoid|refrain|hold off|instead of|rather than|without|not (?:yet|now|to)|stop|forget it|never ?mind|actually,? no|wait)\b/i;
const UNLESS =
  /\b(?:if|unless|in case|whenever|when|once|as soon as|depending|until|provided|assuming|should (?:he|she|they|it)|after (?:he|she|they|it|i|we|you)\b)/i;
const HEDGED =
  /\b(?:maybe|perhaps|possibly|might|i(?:['’]m| am) (?:thinking|not sure|unsure)|i was (?:thinking|wondering)|wonder(?:ing)?|not sure|i guess|probably|some ?time|eventually|hypothetically|pretend|imagine|suppose|what would)\b/i;
const ABILITY =
  /^(?:are you able|is it possible|do you know how|how (?:do|can|would|could|should)|should|shall (?:i|we)|may i|would it|what (?:if|happens|would)|why|did|was|were|is|are|has|have|had|do(?= (?:i|you|we|they)\b)|does|who|which|where)\b/i;
const REPORTED =
  /^(?:[\p{L}.'’-]+\s+){0,6}?(?:says?|said|reads?|wrote|writes|asks?|asked|wants?|wanted|told|tells|texted|requested|states?)\b(?!\s*$)|\baccording to\b|^(?:translate|summari[sz]e|explain|rephrase|quote|read|repeat|proofread|correct|rewrite) (?:this|that|the following|it)\b/iu;
const EITHER = /\bor\b|\beither\b|\band\/or\b|\s\/\s/i;

/** Why a request with an effect may not be meant, or not now, or not in one way only. `head` is what is left of it without the text that would be sent. */
export function findDoubt(head: string): Doubt | undefined {
  const open = findReservation(head);
  if (open) return open;
  if (ABILITY.test(head)) return doubt("a plain order", "This is a question, not an order.");
  if (REPORTED.test(head))
    return doubt("an order of your own", "The request tells what someone else wrote or wants.");
  return undefined;
}

/** What takes an order back, makes it depend on something, or leaves it open. */
export function findReservation(head: string): Doubt | undefined {
  if (NEGATED.test(head)) return doubt("a plain order", "The request says that something is not to be done.");
  if (UNLESS.test(removeIfFree(head)))
    return doubt(
      "a request without a condition",
      "The request depends on something that rules cannot watch.",
    );
  if (HEDGED.test(head)) return doubt("a plain order", "The request is not sure of itself.");
  if (EITHER.test(head)) return doubt("one choice", "The request leaves a choice open.");
  return undefined;
}

/** `if I'm free` is what the calendar's rules do anyway: they look before they book. */
export function removeIfFree(text: string): string {
  return text.replace(
    /[\s,]*\b(?:but )?(?:only )?(?:if|when) (?:(?:i|we|they|everyone|everybody|it|that|you)(?:['’](?:m|re|s)| am| are| is)? )?(?:free|available|open|possible)\b,?/gi,
    "",
  );
}

/** A second order after the first, or an address that only a second one would need. */
const ANOTHER_ORDER =
  /(?:\b(?:and|then|also|but|plus)\s+|[.;]\s*)(?:(?:then|also|please)\s+)*(?:send|forward|delete|post|e-?mail|mail|schedule|book|cancel|invite|remove|share|export|search|find|tell|reply|draft|move|bcc|cc|check|attach)\b|\b(?:do not|don['’]?t) (?:send|post|tell|mail)\b|[^\s@]@[^\s@]/i;
/** Words by which people take back what they have just said. */
const TAKEN_BACK =
  /\b(?:never ?mind|forget (?:it|that)|scratch that|just kidding|on second thoughts?|cancel that|changed my mind|actually|wait|hold on|not yet|only if|unless|but ask me|ask me first|after i|once i)\b|\b(?:is|was) what \w+ (?:said|wrote|wants|asked)\b|\b(?:is|was|were) (?:only |just )?an? (?:mistake|joke|test|example)\b|\bdo(?: not|n['’]?t) (?:do|send|post) (?:this|that|it)\b|(?:^|[.,;!?-]\s*)(?:no|stop|don['’]?t|do not)\b(?!\w)/i;

const SENTENCE =
  /\b(?:i|we|you|he|she|they|what|whatever|which|who|whose|where|why|how|is|are|was|were|be|been|has|have|had|will|would|said|says|does|did)\b|[.;!?]/i;

/** Whether words that should name something say something instead. */
export function isNoName(words: string): boolean {
  return isOpenEnded(words) || SENTENCE.test(words);
}

/** Whether words that should be a text or a title may go beyond it: a condition, a choice, a second order, a change of mind. Quotation marks would tell. */
export function isOpenEnded(words: string): boolean {
  return [UNLESS, EITHER, ANOTHER_ORDER, TAKEN_BACK].some((sign) => sign.test(words));
}
