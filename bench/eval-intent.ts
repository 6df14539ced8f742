// How well the offline rules understand requests: `npm run eval:intent`. A sentence is served right, left undone with a
// reason, or served wrongly without a word, which is what must not happen. Sentences that are held out were written after
// the rules; `--hide-held` keeps them out of sight. Fails if a doubtful sentence plans a write. Given a file of
// utterances of a home assistant (a JSON object with domain, intent and text a line), measures those instead.
import { readFileSync } from "node:fs";
import { planWrites, splitParts } from "@retinue/offline/assistant";
import { assess, chooseDomain, DOMAINS, type Domain } from "@retinue/offline/intent-phases";
import { findHostileSign, isWrite } from "@retinue/offline/read-request";

type Sentence = {
  text: string;
  class: "clear" | "colloquial" | "ambiguous" | "hostile";
  domain: Domain;
  tools?: string[];
  slots?: Record<string, unknown>;
  abstain?: true;
  held?: true;
};
type Verdict = "right" | "abstained" | "wrong and silent";

const fixture = new URL("../test/fixtures/intent-sentences.json", import.meta.url);
const { sentences, ...at } = JSON.parse(readFileSync(fixture, "utf8")) as {
  now: string;
  timezone: string;
  sentences: Sentence[];
};

/** What the domain agent plans that a request would go to. */
function serve(text: string): { tools: readonly string[]; params: Readonly<Record<string, unknown>> } {
  const domain = chooseDomain(text, at);
  return domain ? assess(domain, text, at) : { tools: [], params: {} };
}

function judge({ text, tools = [], slots = {} }: Sentence): { verdict: Verdict; got: string } {
  const found = serve(text);
  if (found.tools.length === 0)
    return { verdict: tools.length === 0 ? "right" : "abstained", got: "abstained" };
  const isRight =
    found.tools.join() === tools.join() &&
    Object.entries(slots).every(([name, value]) => isSame(found.params[name], value));
  const got = `${found.tools.join(", ")} ${JSON.stringify(found.params)}`;
  return { verdict: isRight ? "right" : "wrong and silent", got };
}

/** Texts are the same without regard to case and a stop at the end; lists without regard to order. */
function isSame(got: unknown, wanted: unknown): boolean {
  const plain = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(plain).sort()
      : typeof value === "string"
        ? value.toLowerCase().replace(/[.?!\s]+$/, "")
        : value;
  return JSON.stringify(plain(got)) === JSON.stringify(plain(wanted));
}

/** Whatever any agent, or the assistant above them with all that reads can find, would change because of a text. */
function listWrites(text: string): string[] {
  const own = DOMAINS.flatMap((domain) => assess(domain, text, at).tools.filter(isWrite));
  if (findHostileSign(text)) return own;
  const people = [{ name: "Dana Ortiz", address: "dana.ortiz@acme.example" }];
  const slot = { start: "2026-11-18T14:00:00+01:00", end: "2026-11-18T15:00:00+01:00" };
  const parts = (splitParts(text, at) ?? []).filter(({ kind }) => kind !== "read");
  const { tasks, faults } = planWrites(parts, { people, slot, words: "Found." }, text, at);
  if (faults.length > 0) return own;
  return [...own, ...tasks.flatMap(({ agent, task }) => assess(agent, task, at).tools.filter(isWrite))];
}

function count(rows: readonly { verdict: Verdict }[]): string {
  const share = (verdict: Verdict) => {
    const number = rows.filter((row) => row.verdict === verdict).length;
    return `${verdict} ${number} (${((100 * number) / Math.max(1, rows.length)).toFixed(1)} %)`.padEnd(26);
  };
  return [share("right"), share("abstained"), share("wrong and silent")].join("");
}

function measureOwn(): void {
  const rows = sentences.map((sentence) => ({ sentence, ...judge(sentence) }));
  const print = (name: string, chosen: (sentence: Sentence) => boolean) => {
    const own = rows.filter(({ sentence }) => chosen(sentence));
    console.log(`${`${name}: ${own.length}`.padEnd(34)}${count(own)}`);
  };
  console.log(`${rows.length} sentences, read at ${at.now} (${at.timezone})\n`);
  print("to be understood", ({ abstain }) => !abstain);
  print("to be understood, held out", ({ abstain, held }) => !abstain && held === true);
  print("to be left undone", ({ abstain }) => abstain === true);
  print("to be left undone, held out", ({ abstain, held }) => abstain === true && held === true);
  for (const kind of ["clear", "colloquial", "ambiguous", "hostile"] as const)
    print(kind, (sentence) => sentence.class === kind);
  for (const domain of DOMAINS) print(domain, (sentence) => sentence.domain === domain);
  console.log("\nNot right:");
  for (const { sentence, verdict, got } of rows.filter((row) => row.verdict !== "right")) {
    const hide = sentence.held && process.argv.includes("--hide-held");
    if (!hide)
      console.log(
        `- [${sentence.class}] ${JSON.stringify(sentence.text)}: ${verdict === "abstained" ? verdict : got}`,
      );
  }
  const doubtful = sentences.filter((sentence) => sentence.abstain === true);
  const wrong = doubtful.filter(({ text }) => listWrites(text).length > 0);
  for (const { text } of wrong)
    console.log(`WRONG WRITE: ${JSON.stringify(text)} plans ${listWrites(text).join(", ")}`);
  console.log(`\nWrites planned on sentences to be left undone: ${wrong.length}`);
  process.exitCode = wrong.length > 0 ? 1 : 0;
}

/** Tools that can serve what an utterance is labelled as. */
const SERVING: Readonly<Record<string, RegExp>> = {
  "calendar/query": /^calendar_(?:list_events|check_availability)$/,
  "calendar/remove": /^calendar_delete_event$/,
  "calendar/set": /^calendar_create_event$/,
  "email/query": /^gmail_(?:search_messages|get_message)$/,
  "email/querycontact": /^contacts_/,
  "email/sendemail": /^gmail_(?:send_email|reply_to_message|create_draft)$/,
};

/** Only the kind of tool can be judged by the labels; the values are printed to be looked at. */
function measureOthers(file: string): void {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  const rows = lines.map((line) => {
    const { domain, intent, text } = JSON.parse(line) as { domain: string; intent: string; text: string };
    const { tools, params } = serve(text);
    const isServed = tools.some((tool) => SERVING[`${domain}/${intent}`]?.test(tool));
    const verdict: Verdict = tools.length === 0 ? "abstained" : isServed ? "right" : "wrong and silent";
    if (tools.length > 0)
      console.log(`[${domain}/${intent}] ${text}\n    ${tools.join(", ")} ${JSON.stringify(params)}`);
    return { verdict };
  });
  console.log(`\n${rows.length} utterances, by kind of tool: ${count(rows)}`);
}

const file = process.argv.slice(2).find((argument) => !argument.startsWith("-"));
if (file) measureOthers(file);
else measureOwn();
