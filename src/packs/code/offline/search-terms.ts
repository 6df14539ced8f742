import { isStopWord, stemOf, wordsOf } from "../../../text/terms.ts";

/** One thing a question is about: a regular expression for it, and how much it counts. */
export type Concept = {
  /** As the question has it. */
  name: string;
  /** The thing itself. */
  core: string;
  /** The thing itself or another word for it. */
  pattern: string;
  weight: number;
};

/** What a question asks to look at. */
export type Query = { concepts: readonly Concept[]; paths: readonly string[] };

const MAX_CONCEPTS = 5;
const MAX_PATHS = 4;

/** Words of questions about code that say nothing about the answer. */
const ASKING = new Set(
  `find locate search look show explain describe summarise summarize summary list tell count read code file files folder
  project repository repo codebase function functions class classes module modules method methods implementation
  implemented implement defined define definition located works work does source line lines part place places detail
  details please briefly main important current happen happens exactly report answer question check analyse analyze
  investigate explore research trace understand inside follows understanding handled handle handles called name names
  many usage usages identify determine outline compare happening occur responsible logic section sections overview`.split(
    /\s+/,
  ),
);

/** Other words that code uses for the same thing; the search looks for both. */
const ALSO: Readonly<Record<string, string>> = {
  concurrency: "semaphore|slots?|at once|parallel|gate",
  parallel: "concurren|at once|semaphore|workers?",
  limit: "max(?:imum)?|at most|quota|throttl",
  queue: "fifo|pending|waiting|backlog",
  authentication: "login|token|credential|password",
  authorisation: "permission|rights",
  authorization: "permission|rights",
  permission: "rights?|allow|deny|grant",
  config: "settings?|preferences?",
  configuration: "settings?|preferences?",
  setting: "config|preferences?",
  error: "exception|failure|fault|throw",
  failure: "error|exception|fault",
  retry: "retries|backoff|attempts?",
  database: "sqlite|sql|postgres",
  storage: "store|sqlite|database|persist",
  timeout: "deadline|watchdog|timed? out",
  cancel: "abort|interrupt",
  cache: "memo|lru",
  price: "cost|usd",
  cost: "price|usd",
  secret: "redact|credential|api.?key",
  logging: "logger|log\\(",
  startup: "boot|init|launch",
  delete: "remove|unlink",
  parse: "tokeni[sz]e|decode",
  validate: "schema|verify",
  server: "http|listen|endpoint",
  request: "fetch|http",
  scheduler: "queue|cron",
};

const ALSO_BY_STEM = new Map(Object.entries(ALSO).map(([word, also]) => [stemOf(word), also]));

/** A quotation, a backticked word, or a name that only code has: camelCase, snake_case, CONSTANT, dotted(). */
const EXACT =
  /[`"“]([^`"”\n]{2,80})[`"”]|\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[A-Z]{2,}[A-Z\d]*|[a-zA-Z]\w*(?:\.\w+)*\(\))/g;
const PATH =
  /(?<![\w/.:-])((?:[\w.@-]+\/)+(?:[\w.@-]*[\w@-])?|[\w@-][\w.@-]*\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|cpp|cc|c|h|hpp|php|swift|scala|sh|md|rst|txt|json|ya?ml|toml|sql|css|html|vue|svelte))(?![\w/])(?::\d+)?/g;

/** Works out what to search for: named files, exact names, and other words with what code calls them. */
export function queryOf(question: string): Query {
  const paths = [...new Set([...question.matchAll(PATH)].map(([, path = ""]) => path.replace(/^\.\//, "")))];
  const text = question.replace(PATH, " ");
  const exact = [...text.matchAll(EXACT)].map(([, quoted, name = ""]) => (quoted ?? name).trim());
  const concepts = exact
    .filter((name) => /\w/.test(name) && !paths.includes(name))
    .map((name) => exactly(name));
  const words = wordsOf(text.replace(EXACT, " , ")).filter((word) => !isStopWord(word) && !ASKING.has(word));
  for (const word of new Set(words)) concepts.push(conceptOf(word));
  const seen = new Set<string>();
  const distinct = concepts.filter(({ pattern }) => !seen.has(pattern) && seen.add(pattern));
  const kept = distinct.toSorted((a, b) => b.weight - a.weight).slice(0, MAX_CONCEPTS);
  return { concepts: kept, paths: paths.slice(0, MAX_PATHS) };
}

function exactly(name: string): Concept {
  const pattern = escaped(name.replace(/\(\)$/, ""));
  return { name, core: pattern, pattern, weight: 3 };
}

function conceptOf(word: string): Concept {
  const core = escaped(stemOf(word));
  const also = ALSO_BY_STEM.get(stemOf(word));
  return { name: word, core, pattern: also ? `${core}|${also}` : core, weight: 1 };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
