import { withoutLabel } from "../../../../models/offline/offline-words.ts";
import type { ChildResult } from "../../../../models/offline/read-results.ts";
import { asData, type Data, listIn, textIn } from "../call-data.ts";
import { addressesIn } from "../slots/people.ts";

/** A person as the contacts agent found them. */
export type Person = { readonly name: string; readonly address: string };

/** What the parts that only read have brought to light, for the parts that write. */
export type Findings = {
  readonly people: readonly Person[];
  /** The time that was looked at, if it is free. */
  readonly slot?: { readonly start: string; readonly end: string };
  /** Why a time that was looked at cannot be taken. */
  readonly busy?: string;
  /** What the other reads say, as text. */
  readonly words: string;
};

/** Gathers what reads have found. */
export function gather(results: readonly ChildResult[]): Findings {
  const people: Person[] = [];
  const words: string[] = [];
  let slot: Findings["slot"];
  let busy: string | undefined;
  for (const result of results.filter(({ success }) => success)) {
    const data = toolData(result);
    const found = listIn(data, "contacts").flatMap(personOf);
    people.push(...found.filter(({ address }) => people.every((one) => one.address !== address)));
    if (data.available === true) slot = { start: textIn(data, "start"), end: textIn(data, "end") };
    if (data.available === false) busy = summaryOf(result);
    if (data.available === undefined && data.contacts === undefined) words.push(summaryOf(result));
  }
  return { people, ...(slot && { slot }), ...(busy && { busy }), words: words.join("\n") };
}

/** What a domain agent says in words. */
export function summaryOf(result: ChildResult): string {
  const { summary } = asData(asData(result.data).result);
  return withoutLabel(typeof summary === "string" && summary !== "" ? summary : result.details).trim();
}

/** The type of a domain agent's failure, as its response names it. */
export function faultTypeOf(result: ChildResult): string {
  return textIn(asData(asData(result.data).error), "type");
}

function toolData(result: ChildResult): Data {
  return asData(asData(asData(result.data).result).data);
}

function personOf(contact: Data): Person[] {
  const emails = contact.emails;
  const first = Array.isArray(emails) ? String(emails[0] ?? "") : "";
  const [address] = addressesIn(textIn(contact, "email") || first);
  return address ? [{ name: textIn(contact, "name") || address, address }] : [];
}
