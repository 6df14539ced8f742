import { withoutLabel } from "../offline-words.ts";
import type { ChildResult } from "../read-conversation.ts";
import { type CallData, readField, readList, toData } from "./call-data.ts";
import { findAddresses } from "./people.ts";

/** A person as the contacts agent found them. */
type FoundPerson = { readonly name: string; readonly address: string };

/** What the parts that only read have brought to light, for the parts that write. */
export type ReadFindings = {
  readonly people: readonly FoundPerson[];
  /** The time that was looked at, if it is free. */
  readonly slot?: { readonly start: string; readonly end: string };
  /** Why a time that was looked at cannot be taken. */
  readonly busy?: string;
  /** What the other reads say, as text. */
  readonly words: string;
};

/** Gathers what reads have found. */
export function gatherFindings(results: readonly ChildResult[]): ReadFindings {
  const people: FoundPerson[] = [];
  const words: string[] = [];
  let slot: ReadFindings["slot"];
  let busy: string | undefined;
  for (const result of results.filter(({ success }) => success)) {
    const data = readToolData(result);
    const found = readList(data, "contacts").flatMap(readPerson);
    people.push(...found.filter(({ address }) => people.every((one) => one.address !== address)));
    if (data.available === true) slot = { start: readField(data, "start"), end: readField(data, "end") };
    if (data.available === false) busy = readChildSummary(result);
    if (data.available === undefined && data.contacts === undefined) words.push(readChildSummary(result));
  }
  return { people, ...(slot && { slot }), ...(busy && { busy }), words: words.join("\n") };
}

/** What a domain agent says in words. */
export function readChildSummary(result: ChildResult): string {
  const { summary } = toData(toData(result.data).result);
  return withoutLabel(typeof summary === "string" && summary !== "" ? summary : result.details).trim();
}

/** The type of a domain agent's failure, as its response names it. */
export function readFaultType(result: ChildResult): string {
  return readField(toData(toData(result.data).error), "type");
}

function readToolData(result: ChildResult): CallData {
  return toData(toData(toData(result.data).result).data);
}

function readPerson(contact: CallData): FoundPerson[] {
  const emails = contact.emails;
  const first = Array.isArray(emails) ? String(emails[0] ?? "") : "";
  const [address] = findAddresses(readField(contact, "email") || first);
  return address ? [{ name: readField(contact, "name") || address, address }] : [];
}
