import { type HiddenSecret, HiddenSecrets } from "./hidden-secrets.ts";
import { KnownValues } from "./known-values.ts";
import { redactJson, stringsIn } from "./redact-json.ts";
import {
  createLineScanner,
  createRuleScanner,
  createValueScanner,
  KNOWN_KIND,
  passesSieve,
  type Scanner,
  type SecretPattern,
} from "./scanners.ts";
import { marker, SHORTEST_SECRET, secretForms } from "./secret-forms.ts";
import { SECRET_RULES } from "./secret-rules.ts";

/** What a redactor looks for, besides the kinds of secrets it knows by their looks. */
export type RedactorOptions = {
  /** Known values; those of fewer than 8 characters are not looked for. */
  secrets?: readonly string[];
  /** More kinds, each within one line. */
  patterns?: readonly SecretPattern[];
};

/** Redacts a text that arrives in pieces; the pieces given back join to `redact` of the whole. */
export type RedactionStream = {
  push(chunk: string): string;
  /** What was still held back. */
  end(): string;
  /** The same of a text that was cut off, without what may be the beginning of a secret; some letters are none. */
  cut(): string;
};

/** Replaces secrets by `[redacted:KIND]`. Redacting twice is redacting once. */
export type SecretRedactor = {
  redact(text: string): string;
  /** Redacts a text that was cut off, and leaves out what may be the beginning of a secret at its end. */
  redactCut(text: string): string;
  /** Redacts all strings of a JSON value; the same object if nothing changed. */
  redactJson<T>(value: T): T;
  stream(): RedactionStream;
  /** Whether the strings of a value that is about to leave hold a known secret, however it is encoded. */
  findHidden(value: unknown): HiddenSecret;
  /** From now on looks for this value too. */
  add(secret: string): void;
};

/** Creates a redactor. */
export function createRedactor({ secrets = [], patterns = [] }: RedactorOptions = {}): SecretRedactor {
  const values = new KnownValues();
  const hidden = new HiddenSecrets();
  const kinds = [
    KNOWN_KIND,
    ...SECRET_RULES.map((rule) => rule.kind),
    ...patterns.map((pattern) => pattern.kind),
  ];
  const markers = [...new Set(kinds)].map(marker);

  function add(secret: string): void {
    for (const form of secretForms(secret, markers)) values.add(form);
    hidden.add(secret);
  }
  function ownScanners(): Scanner[] {
    return patterns.length > 0 ? [createLineScanner(patterns)] : [];
  }
  function scanners(): Scanner[] {
    return [createValueScanner(values), createRuleScanner(), ...ownScanners()];
  }
  function redact(text: string): string {
    if (patterns.length === 0 && passesSieve(text) && values.find(text).length === 0) return text;
    return scanners().reduce((rest, scanner) => scanner.push(rest, true), text);
  }
  function stream(): RedactionStream {
    const known = [createValueScanner(values), createRuleScanner()];
    const own = ownScanners();
    const pass = (stages: readonly Scanner[], chunk: string, isLast: boolean): string =>
      stages.reduce((rest, stage) => stage.push(rest, isLast), chunk);
    return {
      push: (chunk) => pass([...known, ...own], chunk, false),
      end: () => pass([...known, ...own], "", true),
      cut() {
        const rest = pass(known, "", true);
        // Whether a pattern of the user's own has begun cannot be told.
        return pass(own, rest.length < SHORTEST_SECRET ? rest : "", true);
      },
    };
  }

  for (const secret of secrets) add(secret);
  return {
    redact,
    redactCut(text) {
      const cut = stream();
      return cut.push(text) + cut.cut();
    },
    redactJson: (value) => redactJson(value, redact),
    stream,
    findHidden: (value) => hidden.find(stringsIn(value)),
    add,
  };
}
