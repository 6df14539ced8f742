// How well the offline rules understand requests: `npm run eval:intent`. Sentences that are held out were written after
// the rules and none was tuned on; `--hide-held` keeps them out of sight. Fails if a doubtful sentence plans a write.
import { readFileSync } from "node:fs";
import { findHostileSign } from "@retinue/offline/assistant/cautions";
import { assess } from "@retinue/offline/assistant/domain-agents";
import { DOMAINS, type Domain, isWrite, routeDomain } from "@retinue/offline/assistant/domains";
import { planRequest, planWrites } from "@retinue/offline/assistant/plan-request";
import { readWording } from "@retinue/offline/assistant/wording";

type Sentence = {
  text: string;
  class: "clear" | "colloquial" | "ambiguous" | "hostile";
  domain: Domain;
  tools?: string[];
  slots?: Record<string, unknown>;
  abstain?: true;
  held?: true;
};
type Row = {
  sentence: Sentence;
  domain: boolean;
  tools: boolean;
  slots: boolean;
  wrongWrite: string[];
  got: string;
};

const { now, timezone, sentences } = JSON.parse(
  readFileSync(new URL("../test/fixtures/intent-sentences.json", import.meta.url), "utf8"),
) as { now: string; timezone: string; sentences: Sentence[] };
const at = { now, timezone };

function judge(sentence: Sentence): Row {
  const { text, domain, tools = [], slots = {}, abstain } = sentence;
  const found = assess(domain, text, at);
  const isRight = found.tools.join() === tools.join();
  const doubtful = sentence.class === "ambiguous" || sentence.class === "hostile";
  const everywhere = [...DOMAINS.flatMap((each) => writesOf(each, text)), ...writesOfMaster(text)];
  return {
    sentence,
    domain: abstain === true || routeDomain(readWording(text).head) === domain,
    tools: isRight,
    slots: isRight && Object.entries(slots).every(([name, value]) => same(found.params[name], value)),
    wrongWrite: doubtful ? everywhere : [],
    got:
      found.tools.length > 0
        ? `${found.tools.join(", ")} ${JSON.stringify(found.params)}`
        : `abstained: ${found.notes}`,
  };
}

function writesOf(domain: Domain, text: string): string[] {
  return assess(domain, text, at).tools.filter(isWrite);
}

/** The writes that a master would have made: with nothing found, and with all that reads can find. */
function writesOfMaster(text: string): string[] {
  if (findHostileSign(text)) return [];
  const plan = planRequest(text);
  const people = [{ name: "Dana Ortiz", address: "dana.ortiz@acme.example" }];
  const slot = { start: "2026-11-18T14:00:00+01:00", end: "2026-11-18T15:00:00+01:00" };
  return [
    { people: [], words: "" },
    ...(plan.reads.length > 0 ? [{ people, slot, words: "Found." }] : []),
  ].flatMap((findings) => {
    const { tasks, cannot } = planWrites(plan, findings, at);
    return cannot.length > 0 ? [] : tasks.flatMap(({ agent, task }) => writesOf(agent, task));
  });
}

/** Texts are the same without regard to case and a stop at the end; lists without regard to order. */
function same(got: unknown, wanted: unknown): boolean {
  const plain = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(plain).sort()
      : typeof value === "string"
        ? value.toLowerCase().replace(/[.?!\s]+$/, "")
        : value;
  return JSON.stringify(plain(got)) === JSON.stringify(plain(wanted));
}

function line(name: string, rows: readonly Row[]): string {
  const share = (count: number) =>
    `${count}/${rows.length} ${((100 * count) / Math.max(1, rows.length)).toFixed(1)}%`.padEnd(16);
  const count = (field: "domain" | "tools" | "slots") => share(rows.filter((row) => row[field]).length);
  return `${name.padEnd(24)}domain ${count("domain")}tools ${count("tools")}slots ${count("slots")}`;
}

const rows = sentences.map(judge);
console.log(`${rows.length} sentences, read at ${now} (${timezone})\n`);
const part = (name: string, chosen: (sentence: Sentence) => boolean) =>
  console.log(
    line(
      name,
      rows.filter(({ sentence }) => chosen(sentence)),
    ),
  );
part("all", () => true);
part("tuned on", ({ held }) => !held);
part("held out", ({ held }) => held === true);
part("held, to be understood", ({ held, abstain }) => held === true && !abstain);
part("held, to abstain from", ({ held, abstain }) => held === true && abstain === true);
console.log();
for (const kind of ["clear", "colloquial", "ambiguous", "hostile"] as const)
  part(kind, (sentence) => sentence.class === kind);
console.log();
for (const domain of DOMAINS) part(domain, (sentence) => sentence.domain === domain);

const misses = rows.filter((row) => !row.slots || !row.domain);
if (misses.length > 0) console.log("\nMisses:");
for (const { sentence, got, domain } of misses) {
  const hide = sentence.held && process.argv.includes("--hide-held");
  console.log(
    `- [${sentence.class}${sentence.held ? ", held" : ""}] ${hide ? "(held)" : JSON.stringify(sentence.text)}`,
  );
  if (!hide) console.log(`    ${domain ? "" : "(domain) "}${got}`);
}
const wrong = rows.filter(({ wrongWrite }) => wrongWrite.length > 0);
for (const { sentence, wrongWrite } of wrong)
  console.log(`WRONG WRITE: ${JSON.stringify(sentence.text)} plans ${wrongWrite.join(", ")}`);
console.log(`\nWrites planned on ambiguous or hostile sentences: ${wrong.length}`);
process.exitCode = wrong.length > 0 ? 1 : 0;
