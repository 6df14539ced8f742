/**
 * How one kind of secret looks. Only so much of it is looked at as decides the matter; what follows of the same characters
 * belongs to the secret too, however long it is.
 */
export type SecretRule = {
  kind: string;
  /** Lookbehind. */
  before?: string;
  /** What stays readable. */
  keep?: readonly Piece[];
  value: readonly Piece[];
  /** Lookahead at the end of the value. */
  after?: string;
  /** The characters, as a class, that go on being secret after the value; `pem` up to the end of the key block. */
  goesOn?: string;
  accept?: (value: string, surroundings: Surroundings) => boolean;
};

const ALNUM = "[A-Za-z0-9]";
const WORD = "[A-Za-z0-9_\\-]";
/** Hyphens may stand before: the end of a key block is made of them. */
const NOT_IN_WORD = "(?<![A-Za-z0-9_])";
const DECIDING = 64;

const hasDigit = (value: string): boolean => /\d/.test(value);

/** A fixed beginning and a run of characters. */
function token(kind: string, beginnings: readonly string[], characters: string, least: number): SecretRule {
  const value = [words(...beginnings), endingRun(characters, least, Math.max(least, DECIDING))];
  return { kind, before: NOT_IN_WORD, value, goesOn: characters };
}

const TOKENS: readonly SecretRule[] = [
  {
    kind: "aws-key",
    before: NOT_IN_WORD,
    value: [words("AKIA", "ASIA", "ABIA", "ACCA"), run("[A-Z0-9]", 16, 16)],
    after: `(?!${ALNUM})`,
  },
  token("github-token", ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], ALNUM, 36),
  token("github-token", ["github_pat_"], "[A-Za-z0-9_]", 22),
  token("gitlab-token", ["glpat-", "gldt-", "glrt-"], WORD, 20),
  token("slack-token", ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xapp-"], "[A-Za-z0-9\\-]", 10),
  token("stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], ALNUM, 16),
  { ...token("anthropic-key", ["sk-ant-"], WORD, 20), accept: hasDigit },
  { ...token("openai-key", ["sk-"], WORD, 20), accept: hasDigit },
  token("google-key", ["AIza"], WORD, 35),
  token("google-key", ["ya29."], WORD, 20),
  token("npm-token", ["npm_"], ALNUM, 36),
  {
    kind: "jwt",
    before: NOT_IN_WORD,
    value: [words("eyJ"), run(WORD, 8, 512), words(".eyJ")],
    goesOn: "[A-Za-z0-9_\\-.]",
  },
];

/** A key block, once what follows its first line shows that it is not just talked about. */
function keyBlock(...body: readonly Piece[]): SecretRule {
  const header = [
    words("-----BEGIN "),
    run("[A-Z0-9 ]", 0, 24),
    words("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----"),
  ];
  const lineEnd = [run("[\\s\\\\]", 1, 1), run("[\\s\\\\nr]", 0, 8)];
  return { kind: "private-key", value: [...header, ...lineEnd, ...body], goesOn: "pem" };
}

const ENCODED_KEYS = [
  "LS0tLS1CRUdJTiBQUklWQVRFI",
  "LS0tLS1CRUdJTiBSU0EgUFJJVkFURS",
  "LS0tLS1CRUdJTiBFQyBQUklWQVRFI",
  "LS0tLS1CRUdJTiBPUEVOU1NIIFBSSVZBVEUg",
];
const PRIVATE_KEYS: readonly SecretRule[] = [
  keyBlock(words("Proc-Type:", "DEK-Info:", "Version:", "Comment:")),
  keyBlock(endingRun("[A-Za-z0-9+/=]", 16, 16)),
  token("private-key", ENCODED_KEYS, "[A-Za-z0-9+/=]", 16),
];

const SPACES = "[ \\t]";
const QUOTES = "[\"'`\\\\]";
const BEARER = "[A-Za-z0-9._~+/=\\-]";
const ASSIGNED = "[^\\s\"'`\\\\<>,;&|(){}\\]]";

const NAMED: readonly SecretRule[] = [
  {
    kind: "authorization",
    keep: [
      wordsInAnyCase("authorization"),
      run(QUOTES, 0, 2),
      run(SPACES, 0, 2),
      words(":", "="),
      run(SPACES, 0, 2),
      run(QUOTES, 0, 2),
      wordsInAnyCase("bearer ", "basic ", "token ", "apikey "),
    ],
    value: [endingRun(BEARER, 6, DECIDING)],
    goesOn: BEARER,
    accept: (value) => !/^your/i.test(value),
  },
  {
    kind: "authorization",
    before: NOT_IN_WORD,
    keep: [wordsInAnyCase("bearer ")],
    value: [endingRun(BEARER, 16, DECIDING)],
    goesOn: BEARER,
    accept: hasDigit,
  },
  {
    kind: "credential",
    before: `(?<!${alternatives(["page", "next", "sync", "continuation", "cursor", "resume"].map(inAnyCase))}[_\\-]?)`,
    keep: [
      wordsInAnyCase(
        "password",
        "passwd",
        "passphrase",
        "pwd",
        "secret",
        "token",
        "apikey",
        "api_key",
        "api-key",
        "accesskey",
        "access_key",
        "access-key",
        "secretkey",
        "secret_key",
        "secret-key",
        "privatekey",
        "private_key",
        "accountkey",
        "account_key",
        "signing_key",
        "credential",
        "credentials",
      ),
      run(QUOTES, 0, 2),
      run(SPACES, 0, 3),
      run("[:=]", 1, 3),
      run(">", 0, 1),
      run(SPACES, 0, 3),
      run(QUOTES, 0, 2),
    ],
    value: [endingRun(ASSIGNED, 6, DECIDING)],
    goesOn: ASSIGNED,
    accept: looksSecret,
  },
  {
    kind: "credential",
    keep: [words("://"), run("[^\\s/:@?#\\[\"'<>`\\\\]", 0, 64), words(":")],
    value: [run("[^\\s/\"'<>`\\\\]", 1, 256)],
    after: "(?=@)",
    accept: (value) => !/^[${<]/.test(value),
  },
];

/** Every kind of secret that is known by its looks. Of two that begin at the same place the earlier counts. */
export const SECRET_RULES: readonly SecretRule[] = [...TOKENS, ...PRIVATE_KEYS, ...NAMED];

/** Where a value stood: what came before it, from its name on, and the character after it. */
export type Surroundings = { before: string; after: string };

const PLACEHOLDER =
  /^(?:your|my[_-]|example|change_?me|placeholder|dummy|undefined|null|none|nil|true|false|string|number|boolean|required|optional|enabled|disabled|invalid|missing|expired|generated|password|secret|token|process\.|u?int\d|float\d|big(?:u?)int|base64|utf-?8|sha-?\d|md5|[x*.•_-]+$|\.{0,2}\/|[a-z]+:\/\/|\$|%[sd{(])/i;
const IDENTIFIER_CALL = /[(.[]/;
const CODE_AFTER = /[,)}\]]/;

/** Whether a value that is assigned to a secret-looking name is itself one, and not code, a placeholder or prose. */
export function looksSecret(value: string, { before, after }: Surroundings): boolean {
  if (value.length < 6 || PLACEHOLDER.test(value)) return false;
  const quoted = /["'`]$/.test(before);
  if (!quoted && IDENTIFIER_CALL.test(after)) return false;
  if (!/[A-Za-z]/.test(value)) return /^\d+$/.test(value) && /pass|pwd/i.test(before) && value.length >= 6;
  if (/\d/.test(value) || /[!@#%^*~?+]/.test(value)) return true;
  if (value.length < 8 || /[^A-Za-z]/.test(value) || /[a-z][A-Z]/.test(value)) return false;
  return quoted || (/=$/.test(before) && !CODE_AFTER.test(after));
}

/**
 * A part of a rule as regular expression source: `whole` matches all of it, `begun` any beginning of it that the end of the
 * text cut off. From the second a stream knows what to hold back.
 */
export type Piece = { whole: string; begun: string };

/** One of several fixed words. */
export function words(...list: readonly string[]): Piece {
  return spelled(list, literally);
}

/** One of several fixed words in any case. */
export function wordsInAnyCase(...list: readonly string[]): Piece {
  return spelled(list, inAnyCase);
}

/**
 * Matches a text in any case, letter by letter: `(?i:…)` must not be used. Once a process has compiled a megabyte of
 * regular expressions, V8 compiles further ones without optimising them, and then without regard to what stands before the
 * colon.
 */
export function inAnyCase(text: string): string {
  return literally(text).replaceAll(
    /[a-z]/gi,
    (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`,
  );
}

function spelled(list: readonly string[], spell: (text: string) => string): Piece {
  const longestFirst = [...list].sort((a, b) => b.length - a.length);
  return {
    whole: alternatives(longestFirst.map(spell)),
    begun: alternatives(list.map((word) => beginnings(word, spell))),
  };
}

/** A run of `least` to `most` characters of a class. */
export function run(characters: string, least: number, most: number): Piece {
  return { whole: `${characters}{${least},${most}}`, begun: `${characters}{0,${most}}` };
}

/** A run that ends its rule: once it has all the characters looked at, nothing more needs to be awaited. */
export function endingRun(characters: string, least: number, most: number): Piece {
  return { whole: `${characters}{${least},${most}}`, begun: `${characters}{0,${most - 1}}` };
}

/** Matches the whole sequence. */
export function wholeOf(pieces: readonly Piece[]): string {
  return pieces.map((piece) => piece.whole).join("");
}

/** Matches any beginning of the sequence that reaches the end of the text. */
export function begunOf(pieces: readonly Piece[]): string {
  return pieces.reduceRight(
    (rest, { whole, begun }) => (rest ? `(?:${whole}${rest}|${begun})` : `(?:${begun})`),
    "",
  );
}

function beginnings(word: string, spell: (text: string) => string): string {
  const letters = [...word].slice(0, -1).map(spell);
  return letters.reduceRight((rest, letter) => (rest ? `${letter}(?:${rest})?` : letter), "");
}

export function alternatives(sources: readonly string[]): string {
  return `(?:${sources.join("|")})`;
}

function literally(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
