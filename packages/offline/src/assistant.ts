import { type CallData, readField, readList } from "./call-data.ts";
import {
  type ChildResult,
  findAnswer,
  findNextCalls,
  findResult,
  isFromHost,
  type OfflineCall,
  type OfflineMove,
  type Procedure,
  readResults,
  type Situation,
  taskText,
  toData,
} from "./conversation.ts";
import { type HandedTask, handOver, isStillRunning, waitForRunning } from "./hand-over.ts";
import { assess, chooseDomain, DOMAINS, type Domain, findMisreading } from "./intent-phases.ts";
import { cutShort, needsModel, withoutLabel } from "./offline-words.ts";
import { findAddress, findHostileSign, isWrite } from "./read-request.ts";
import { type Now, readClock, readNow, speakSpan } from "./when.ts";

/** The agent above the four domains: it takes every request. */
export const assistant: Procedure = { agents: ["assistant"], next: nextMove };

/** The main agent with a request of which every part is plainly for these domains. */
export const mainForDomains: Procedure = {
  agents: ["main"],
  takes: (situation) => {
    const names = situation.delegates.map(({ name }) => name);
    return listRequests(situation).every((text) =>
      splitParts(text, readNow(situation))?.every(({ domain }) => names.includes(domain)),
    );
  },
  next: nextMove,
};

/** What a person said, without what the runtime said. */
function listRequests({ task, later }: Situation): string[] {
  return [taskText(task), ...later.filter((text) => !isFromHost(text))];
}

/** The last request decides what is said; those before it have been answered. */
function nextMove(situation: Situation): OfflineMove {
  let move: OfflineMove = { cannot: "nothing was asked", type: "params" };
  for (const text of listRequests(situation)) {
    move = answerRequest(text, situation);
    if ("calls" in move) return move;
  }
  return move;
}

/** Looks up what is asked for first, all at once; then does what is to be done with it, if nothing is in doubt. */
function answerRequest(text: string, situation: Situation): OfflineMove {
  const hostile = findHostileSign(text);
  if (hostile) return { cannot: hostile.why, type: "params" };
  const at = readNow(situation);
  const parts = splitParts(text, at);
  if (!parts) return { cannot: refuse(text, situation) };
  const reads = parts
    .filter(({ kind }) => kind === "read")
    .map(({ text: task, domain }, index) => ({
      id: `read-${index + 1}`,
      agent: domain,
      task,
    }));
  const writes = parts.filter(({ kind }) => kind !== "read");
  const reading = runTasks(reads, situation);
  if ("calls" in reading) return reading;
  const found = gatherFindings(reading.results);
  const why =
    reading.results.length < reads.length || reading.results.some(({ success }) => !success)
      ? "something could not be looked up"
      : writes.length > 0 && found.busy
        ? "the time is not free"
        : undefined;
  if (why)
    return composeReply(
      reading.results,
      writes.map((part) => `“${part.text}”, because ${why}`),
    );
  const { tasks, faults } = planWrites(writes, found, text, at);
  if (tasks.some(({ dependsOn }) => dependsOn) && !situation.tools.includes("delegate_many"))
    faults.push("orders that wait for each other need the tool delegate_many");
  if (faults.length > 0) return composeReply(reading.results, faults);
  const writing = runTasks(tasks, situation);
  return "calls" in writing ? writing : composeReply([...reading.results, ...writing.results], []);
}

function refuse(text: string, situation: Situation): string {
  const names = situation.delegates
    .map(({ name }) => name)
    .filter((name) => DOMAINS.some((domain) => domain === name));
  const why = findMisreading(text, readNow(situation));
  const asked = needsModel(
    `tell what this asks for (“${cutShort(text, 120)}”)`,
    `hand plain requests to ${names.join(", ") || "nobody here"}`,
  );
  return why ? `${asked} ${why}` : asked;
}

/** One piece of a request: something to look up, something to do, or something to do with what was found. */
type DomainPart = { text: string; domain: Domain; kind: "read" | "write" | "invite" | "share" };

const JOINT = /(?:,|[.;!?])?\s+(?:and then|and|then|also)\s+|[,;]\s+|[.!?]\s+(?=\p{Lu})/giu;
const MAX_JOINTS = 8;

/** The pieces of a request, each as long as it can be understood; null if a word of it is not understood. What follows the first may point back. */
export function splitParts(text: string, at: Now, mayPointBack = false): DomainPart[] | null {
  const whole = readDomainPart(text.trim(), at, mayPointBack);
  if (whole) return [whole];
  for (const { index, 0: words } of [...text.matchAll(JOINT)].slice(0, MAX_JOINTS).reverse()) {
    const first = readDomainPart(text.slice(0, index).trim(), at, mayPointBack);
    const rest = first && splitParts(text.slice(index + words.length), at, true);
    if (rest) return [first, ...rest];
  }
  return null;
}

const INVITE = /^invite (?:them|all of them|both of them)[.!]?$/i;
const SHARE =
  /^(?:post|share) (?:it|this|that|a summary) (?:in|to) (?:the )?(?<channel>#[\p{L}_][\p{L}\p{N}_-]*)(?: channel)?[.!?]?$/iu;

function readDomainPart(text: string, at: Now, mayPointBack: boolean): DomainPart | null {
  if (mayPointBack && INVITE.test(text)) return { text, domain: "calendar", kind: "invite" };
  if (mayPointBack && SHARE.test(text)) return { text, domain: "slack", kind: "share" };
  const domain = chooseDomain(text, at);
  if (!domain) return null;
  return { text, domain, kind: assess(domain, text, at).tools.some(isWrite) ? "write" : "read" };
}

/** One delegation to an agent of a domain. */
type DomainTask = HandedTask & { agent: Domain };

/** The tasks that are left when everything was looked up; none is begun if one of them is in doubt. */
export function planWrites(
  parts: readonly DomainPart[],
  found: Findings,
  request: string,
  at: Now,
): { tasks: DomainTask[]; faults: string[] } {
  const event = parts.some(({ kind }) => kind === "invite") ? nameOccasion(request) : undefined;
  const tasks: DomainTask[] = [];
  const faults: string[] = [];
  const add = (agent: Domain, task: string) => tasks.push({ id: `write-${tasks.length + 1}`, agent, task });
  for (const { text, domain, kind } of parts) {
    if (kind === "write") add(domain, text);
    else if (kind === "share") {
      const news = composeNews(found, event);
      if (news === "") faults.push(`there is nothing to tell for “${text}”`);
      else add("slack", `Post ${quote(news)} in ${SHARE.exec(text)?.groups?.channel}`);
    } else if (found.people.length === 0) faults.push(`nobody was found that 'them' could mean in “${text}”`);
    else if (found.slot) {
      const { start, end } = found.slot;
      const to = joinNames(found.people.map(({ address }) => address));
      const minutes = Math.round((Date.parse(end) - Date.parse(start)) / 60_000);
      add(
        "calendar",
        `Schedule a meeting called ${quote(event ?? "")} with ${to} on ${start.slice(0, 10)} at ${readClock(start)} for ${minutes} minutes without sending invitations`,
      );
      add(
        "email",
        `Send an email to ${to} with the subject ${quote(`Invitation: ${event}`)} saying ${quote(`You are invited to: ${event}, ${speakSpan(start, end)}.`)}`,
      );
    } else faults.push("the invitation needs a day and a time");
  }
  if (parts.filter(({ kind }) => kind === "write").length > 1)
    faults.push("rules carry out one order at a time");
  for (const { agent, task } of tasks) {
    const { status, notes } = assess(agent, task, at);
    if (status === "failed") faults.push(`“${task}”: ${notes}`);
  }
  // What tells of an event waits until it is made.
  const made = event === undefined ? undefined : tasks.find(({ agent }) => agent === "calendar")?.id;
  const ordered = tasks.map((task) =>
    made === undefined || task.agent === "calendar" ? task : { ...task, dependsOn: [made] },
  );
  return { tasks: ordered, faults };
}

/** What an event is called that a request does not name: after those it is with. */
function nameOccasion(request: string): string {
  const whose =
    /(\p{Lu}[\p{L}\p{N}&-]*(?: \p{Lu}[\p{L}\p{N}&-]*)*)['’]s? (?:people|staff|contacts)\b|\b(?:people|everyone|contacts) (?:at|from) (\p{Lu}[\p{L}\p{N}&-]*(?: \p{Lu}[\p{L}\p{N}&-]*)*)/u.exec(
      request,
    );
  const name = whose?.[1] ?? whose?.[2];
  return name ? `Meeting with ${name}` : "Meeting";
}

function joinNames(names: readonly string[]): string {
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : names.join();
}

/** A text in quotation marks, so that rules take it as one piece, whatever it says. */
function quote(text: string): string {
  return `“${text.replace(/[“”]/g, '"')}”`;
}

const MAX_TEXT = 6_000;

/** What there is to tell: of an event, when it is and with whom; else what was found. */
function composeNews({ people, slot, words }: Findings, title: string | undefined): string {
  if (title && slot) {
    const names = people.map(({ name }) => name).join(", ");
    return `${title}: ${speakSpan(slot.start, slot.end)}${names && `, with ${names}`}.`;
  }
  const found = [words, ...people.map(({ name, address }) => `${name} <${address}>`)]
    .filter(Boolean)
    .join("\n");
  return cutShort(found, MAX_TEXT);
}

/** What the parts that read have found, for the parts that write. */
export type Findings = {
  readonly people: readonly { name: string; address: string }[];
  /** The time that was looked at, if it is free. */
  readonly slot?: { readonly start: string; readonly end: string };
  /** A time that was looked at cannot be taken. */
  readonly busy?: boolean;
  /** What the other reads say, as text. */
  readonly words: string;
};

function gatherFindings(results: readonly ChildResult[]): Findings {
  const data = results.map((result) => ({ result, found: toData(toData(toData(result.data).result).data) }));
  const people = data.flatMap(({ found }) => readList(found, "contacts").flatMap(readPerson));
  const times = data.map(({ found }) => found).filter((found) => typeof found.available === "boolean");
  const slot = times.findLast(({ available }) => available === true);
  const told = data.filter(({ found }) => found.available === undefined && found.contacts === undefined);
  return {
    people: people.filter(({ address }, at) => people.findIndex((one) => one.address === address) === at),
    slot: slot && { start: readField(slot, "start"), end: readField(slot, "end") },
    busy: times.some(({ available }) => available === false),
    words: told.map(({ result }) => readSummary(result)).join("\n"),
  };
}

function readPerson(contact: CallData): { name: string; address: string }[] {
  const [first] = Array.isArray(contact.emails) ? contact.emails : [];
  const address = findAddress(readField(contact, "email") || String(first ?? ""));
  return address ? [{ name: readField(contact, "name") || address, address }] : [];
}

/** What a domain agent says in words. */
function readSummary(result: ChildResult): string {
  const summary = readField(toData(toData(result.data).result), "summary");
  return withoutLabel(summary || result.details).trim();
}

/** The calls that are still to make, or the results of all of them. */
function runTasks(
  tasks: readonly DomainTask[],
  situation: Situation,
): { calls: readonly OfflineCall[] } | { results: ChildResult[] } {
  const calls = handOver(tasks, situation);
  const move = findNextCalls(situation, [() => calls]) ?? waitForRunning(situation);
  if (move && "calls" in move) return move;
  const results = calls.flatMap((call) => readAnswer(call, situation));
  const isCollected = calls.some((call) => isStillRunning(findResult(situation.calls, call)));
  const collected = situation.calls.filter(({ tool }) => isCollected && tool === "collect_results");
  return { results: [...results, ...collected.flatMap(({ result }) => readResults(result))] };
}

/** The results of a delegation; one that the host did not even begin is a failure of its own. */
function readAnswer(call: OfflineCall, { calls }: Situation): ChildResult[] {
  const past = findAnswer(calls, call);
  const results = readResults(past?.result ?? "");
  if (!past?.failed || results.length > 0) return results;
  const { result } = past;
  const agent = String(call.input.agent ?? "delegation");
  return [
    { agent, success: false, partial: false, summary: result, details: result, files: [], error: result },
  ];
}

/** One answer from all: what was not done comes first, then each domain's own words in the order they were asked. */
function composeReply(results: readonly ChildResult[], left: readonly string[]): OfflineMove {
  const failed = results.filter(({ success }) => !success);
  const done = results.filter(({ success }) => success);
  const lines = [
    ...failed.map((result) => `Not done (${result.agent}): ${explainFailure(result)}`),
    ...left.map((why) => `Not done: ${why}.`),
    ...done.map((result) =>
      results.length > 1 ? `${result.agent}: ${readSummary(result)}` : readSummary(result),
    ),
  ];
  const text =
    (lines.length > 1 ? lines.map((line) => `- ${line}`) : lines).join("\n") || "Nothing was done.";
  const isRefusal = failed.some(({ data }) => readField(toData(toData(data).error), "type") === "permission");
  return done.length === 0 && !isRefusal ? { cannot: text, type: "params" } : { say: text };
}

function explainFailure(result: ChildResult): string {
  const why = result.error || readSummary(result);
  return /^not started: it needs/.test(why) ? "not begun, because the event was not made" : why;
}
