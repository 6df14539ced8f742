import type { KnownValues } from "./known-values.ts";
import { MARKER_START, marker } from "./secret-forms.ts";
import { alternatives, begunOf, inAnyCase, SECRET_RULES, type SecretRule, wholeOf } from "./secret-rules.ts";

/** Takes a text in pieces and gives it back without secrets; what may still turn into one is held until more is known. */
export type Scanner = { push(chunk: string, isLast: boolean): string };

const WHOLE = new RegExp(SECRET_RULES.map(wholeSource).join("|"), "g");
const BEGUN = new RegExp(`(?:${SECRET_RULES.map(begunSource).join("|")})$`, "g");
const GOES_ON = new Map(SECRET_RULES.map(({ goesOn }) => [goesOn, new RegExp(`${goesOn}*`, "y")]));
/** How the names end after which values are secret. */
const NAMES = "password passwd passphrase pwd secret token key credential credentials authorization".split(
  " ",
);
/**
 * A cheap sieve in front of WHOLE: every match of a rule has one of these within its first characters. Each alternative
 * begins with a rare character and only then looks back, which is what makes it ten times faster than the rules.
 */
const SIEVE = new RegExp(
  [
    "_(?<=gh[pousr]_|github_pat_|[sr]k_live_|[sr]k_test_|whsec_|npm_)",
    "-(?<=gl(?:pat|dt|rt)-|xox[abprs]-|xapp-|(?<![A-Za-z0-9_])sk-|-----)",
    "A(?<=AKIA|ASIA|ABIA|ACCA)",
    "J(?<=eyJ)|z(?<=AIz)|9(?<=ya29)|U(?<=LS0tLS1CRU)",
    `[:=](?<=${alternatives(NAMES.map(inAnyCase))}["'\`\\\\]{0,2}[ \\t]{0,3}[:=])`,
    ":(?=//[^\\s/:@?#\"'<>`\\\\]{0,64}:)",
    `[bB](?=${inAnyCase("earer ")})`,
  ].join("|"),
  "g",
);
/** How far into a match the sieve's character may stand. */
const SIEVE_REACH = 48;
const PEM_RUN = /[A-Za-z0-9+/=\s\\:,.()@<>-]*/y;
const PEM_END = /-----END [A-Z0-9 ]{0,24}PRIVATE KEY(?: BLOCK)?-----/;
const PEM_END_LENGTH = 64;
/** No unfinished match is longer. */
const LONGEST_BEGUN = 1024;
/** How far back a lookbehind sees. */
const LOOK_BACK = 24;
/** A value this long was not looked at to its end. */
const DECIDING = 64;

/** Creates a scanner for one text. */
export function createRuleScanner(): Scanner {
  return new RuleScanner();
}

/** Whether the rules leave a complete text as it is, found out in one fast pass over most texts. */
export function passesSieve(text: string): boolean {
  SIEVE.lastIndex = 0;
  return !SIEVE.test(text);
}

type Found = { rule: SecretRule; start: number; valueStart: number; end: number };

class RuleScanner implements Scanner {
  /** What was dealt with last, as far as a lookbehind needs it. */
  private behind = "";
  private held = "";
  private goesOn: string | undefined;

  push(chunk: string, isLast: boolean): string {
    const text = this.behind + this.held + chunk;
    const kept: string[] = [];
    let at = this.skipSecret(text, this.behind.length, isLast);
    let hold = isLast ? text.length : begunFrom(text, at);
    for (
      let found = nextFound(text, at);
      found && found.start < hold && !this.goesOn;
      found = nextFound(text, at)
    ) {
      const { start, valueStart } = found;
      kept.push(text.slice(at, start), redactWhole(text.slice(start, valueStart)), marker(found.rule.kind));
      this.goesOn = found.rule.goesOn;
      at = this.skipSecret(text, found.end, isLast);
      if (!isLast && hold < at) hold = begunFrom(text, at);
    }
    const end = this.goesOn ? at : hold;
    kept.push(text.slice(at, end));
    this.behind = text.slice(Math.max(0, end - LOOK_BACK), end);
    this.held = text.slice(end);
    return kept.join("");
  }

  /** Where the secret that is being left out ends, as far as the text shows it. */
  private skipSecret(text: string, at: number, isLast: boolean): number {
    if (this.goesOn === undefined) return at;
    const { end, isOver } =
      this.goesOn === "pem" ? pemEnd(text, at) : runEnd(GOES_ON.get(this.goesOn), text, at);
    if (isOver || isLast) this.goesOn = undefined;
    return isLast && !isOver ? text.length : end;
  }
}

/** What a rule keeps beside its value may hold a secret itself, such as a token that is the user of an address. */
function redactWhole(text: string): string {
  return passesSieve(text) ? text : new RuleScanner().push(text, true);
}

function pemEnd(text: string, at: number): { end: number; isOver: boolean } {
  const run = runEnd(PEM_RUN, text, at);
  const last = PEM_END.exec(text.slice(at, run.end));
  if (last) return { end: at + last.index + last[0].length, isOver: true };
  return run.isOver ? run : { end: Math.max(at, run.end - PEM_END_LENGTH), isOver: false };
}

function runEnd(characters: RegExp | undefined, text: string, at: number): { end: number; isOver: boolean } {
  if (!characters) return { end: at, isOver: true };
  characters.lastIndex = at;
  const end = at + (characters.exec(text)?.[0].length ?? 0);
  return { end, isOver: end < text.length };
}

function nextFound(text: string, from: number): Found | undefined {
  SIEVE.lastIndex = from;
  const hint = SIEVE.exec(text);
  if (!hint) return undefined;
  WHOLE.lastIndex = Math.max(from, hint.index - SIEVE_REACH);
  for (let match = WHOLE.exec(text); match; match = WHOLE.exec(text)) {
    const found = foundBy(match);
    if (found && isAccepted(found, text)) return found;
    WHOLE.lastIndex = match.index + 1;
  }
  return undefined;
}

/** Each rule has two groups: what stays, and the value. */
function foundBy(match: RegExpExecArray): Found | undefined {
  const index = SECRET_RULES.findIndex((_, rule) => match[2 * rule + 2] !== undefined);
  const rule = SECRET_RULES[index];
  if (!rule) return undefined;
  const start = match.index;
  return {
    rule,
    start,
    valueStart: start + (match[2 * index + 1]?.length ?? 0),
    end: start + match[0].length,
  };
}

function isAccepted({ rule, start, valueStart, end }: Found, text: string): boolean {
  const value = text.slice(valueStart, end);
  if (holdsMarker(value)) return false;
  if (!rule.accept) return true;
  const after = value.length < DECIDING ? text.charAt(end) : "";
  return rule.accept(value, { before: text.slice(start, valueStart), after });
}

/** What a marker is part of was dealt with before; this is what makes redacting twice the same as once. */
function holdsMarker(value: string): boolean {
  if (value.includes(MARKER_START)) return true;
  const bracket = value.length < DECIDING ? -1 : value.lastIndexOf("[");
  return bracket >= 0 && MARKER_START.startsWith(value.slice(bracket));
}

function begunFrom(text: string, from: number): number {
  BEGUN.lastIndex = Math.max(from, text.length - LONGEST_BEGUN);
  return BEGUN.exec(text)?.index ?? text.length;
}

function wholeSource({ before = "", keep = [], value, after = "" }: SecretRule): string {
  return `${before}(${wholeOf(keep)})(${wholeOf(value)})${after}`;
}

function begunSource({ before = "", keep = [], value }: SecretRule): string {
  return before + begunOf([...keep, ...value]);
}

/** The kind of secrets that are known by their value. */
export const KNOWN_KIND = "secret";

/** Creates a scanner of one text for values that are known; a beginning of one is held until it is decided. */
export function createValueScanner(values: KnownValues): Scanner {
  let held = "";
  return {
    push(chunk, isLast) {
      const text = held + chunk;
      const spans = values.find(text);
      const begun = isLast ? text.length : values.unfinishedFrom(text);
      const end = spans.find((span) => span.start < begun && begun < span.end)?.start ?? begun;
      const kept: string[] = [];
      let at = 0;
      for (const span of spans) {
        if (span.end > end) break;
        kept.push(text.slice(at, span.start), marker(KNOWN_KIND));
        at = span.end;
      }
      kept.push(text.slice(at, end));
      held = text.slice(end);
      return kept.join("");
    },
  };
}

/** A kind of secret of the user's own; it is looked for within single lines. */
export type SecretPattern = { kind: string; pattern: RegExp };

/** Creates a scanner of one text for patterns of the user's own, which holds each line until it is complete. */
export function createLineScanner(patterns: readonly SecretPattern[]): Scanner {
  const ready = patterns.map(({ kind, pattern }) => ({
    mark: marker(kind),
    pattern: new RegExp(pattern.source, pattern.flags.replaceAll(/[gy]/g, "").concat("g")),
  }));
  let held = "";
  return {
    push(chunk, isLast) {
      const text = held + chunk;
      const end = isLast ? text.length : text.lastIndexOf("\n") + 1;
      held = text.slice(end);
      return text.slice(0, end).split("\n").map(redactLine).join("\n");
    },
  };

  function redactLine(line: string): string {
    return ready.reduce(
      (rest, { pattern, mark }) => betweenMarkers(rest, (part) => part.replaceAll(pattern, () => mark)),
      line,
    );
  }
}

function betweenMarkers(line: string, change: (part: string) => string): string {
  if (!line.includes(MARKER_START)) return change(line);
  return line
    .split(/(\[redacted:[^\]\s]*\])/)
    .map((part, index) => (index % 2 === 1 ? part : change(part)))
    .join("");
}
