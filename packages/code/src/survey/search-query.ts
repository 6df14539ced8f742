import { isStopWord, splitWords, stemWord } from "@retinue/core/text/terms";
import { escapePattern } from "../symbols/code-symbol.ts";

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

const ALSO_BY_STEM = new Map(Object.entries(ALSO).map(([word, also]) => [stemWord(word), also]));

/** A quotation, a backticked word, or a name that only code has: camelCase, snake_case, CONSTANT, dotted(). */
const EXACT =
  /[`"“]([^`"”\n]{2,80})[`"”]|\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[A-Z]{2,}[A-Z\d]*|[a-zA-Z]\w*(?:\.\w+)*\(\))/g;

const PATH =
  /(?<![\w/.:-])((?:[\w.@-]+\/)+(?:[\w.@-]*[\w@-])?|[\w@-][\w.@-]*\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cs|cpp|cc|c|h|hpp|php|swift|scala|sh|md|rst|txt|json|ya?ml|toml|sql|css|html|vue|svelte))(?![\w/])(?::\d+)?/g;

/** Works out what to search for: named files, exact names, and other words with what code calls them. */
export function readQuery(question: string): Query {
  const paths = [...new Set([...question.matchAll(PATH)].map(([, path = ""]) => path.replace(/^\.\//, "")))];
  const text = question.replace(PATH, " ");
  const exact = [...text.matchAll(EXACT)].map(([, quoted, name = ""]) => (quoted ?? name).trim());
  const concepts = exact
    .filter((name) => /\w/.test(name) && !paths.includes(name))
    .map((name) => makeExactConcept(name));
  const words = splitWords(text.replace(EXACT, " , ")).filter(
    (word) => !isStopWord(word) && !ASKING.has(word),
  );
  for (const word of new Set(words)) concepts.push(makeConcept(word));
  const seen = new Set<string>();
  const distinct = concepts.filter(({ pattern }) => !seen.has(pattern) && seen.add(pattern));
  const kept = distinct.toSorted((a, b) => b.weight - a.weight).slice(0, MAX_CONCEPTS);
  return { concepts: kept, paths: paths.slice(0, MAX_PATHS) };
}

function makeExactConcept(name: string): Concept {
  const pattern = escapePattern(name.replace(/\(\)$/, ""));
  return { name, core: pattern, pattern, weight: 3 };
}

function makeConcept(word: string): Concept {
  const core = escapePattern(stemWord(word));
  const also = ALSO_BY_STEM.get(stemWord(word));
  return { name: word, core, pattern: also ? `${core}|${also}` : core, weight: 1 };
}

/** Lines that hit, by file, for one concept. */
export type Hits = {
  concept: Concept;
  counts: ReadonlyMap<string, number>;
  /** There are more than these. */
  cut?: boolean;
};

/** A file and how well it fits the question. */
export type RankedFile = { path: string; score: number };

const LOW_PLACES =
  /(?:^|\/)(?:tests?|__tests__|spec|fixtures?|examples?|bench|docs?|vendor|dist|build|generated|mocks?)\/|\.(?:test|spec)\.\w+$/i;

const LOWEST_FILES =
  /(?:^|\/)(?:[\w.-]*-lock[\w.-]*|CHANGELOG[\w.]*|LICEN[CS]E[\w.]*|NOTICE)$|\.(?:lock|snap|min\.js|map|svg|csv|jsonl)$/i;

const PROSE = /\.(?:md|rst|txt|adoc|json|ya?ml|toml)$/i;

/**
 * Files by how many different concepts they hit, rarer ones counting more; a concept in a file's own path counts like
 * many hits. Sources come before tests and documents, those before generated files.
 */
export function rankFiles(hits: readonly Hits[]): RankedFile[] {
  const paths = new Set(hits.flatMap(({ counts }) => [...counts.keys()]));
  const ranked = [...paths].map((path) => {
    let score = 0;
    let met = 0;
    for (const { concept, counts } of hits) {
      const rarity = Math.log(1 + paths.size / Math.max(1, counts.size));
      const lines = counts.get(path) ?? 0;
      score += concept.weight * (0.4 + rarity) * (lines > 0 ? 1 + Math.log2(lines) / 4 : 0);
      const inPath = isInPath(concept, path);
      score += concept.weight * 2 * (inPath ? 1 : 0);
      if (lines > 0 || inPath) met++;
    }
    return { path, score: score * rateStanding(path) * (0.4 + (0.6 * met) / hits.length) };
  });
  return ranked.sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** How far a file is from being a source: 1 for sources, less for the rest. */
export function rateStanding(path: string): number {
  if (LOWEST_FILES.test(path)) return 0.1;
  if (LOW_PLACES.test(path)) return 0.25;
  return PROSE.test(path) ? 0.5 : 1;
}

/** Whether a concept, or another word for it, is in the names of the path. */
export function isInPath({ pattern }: Concept, path: string): boolean {
  return new RegExp(`(?:^|[/_.-])(?:${pattern})`, "i").test(path.replace(/([a-z])([A-Z])/g, "$1-$2"));
}
