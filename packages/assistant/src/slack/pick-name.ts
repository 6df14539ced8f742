// Whom and which channel somebody means by a name, and the names that are near to one that is not there.

import { foldText } from "../service-tools/search-words.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import type { SlackUser } from "./slack-provider.ts";

const MAX_SHOWN = 80;

/**
 * The one person with this name. `ways` gives the names that a person goes by, a list for each way of naming people;
 * the first way in which anybody fits decides. Raises `params` if several fit or nobody does.
 */
export function pickPerson<Person extends SlackUser>(
  asked: string,
  people: readonly Person[],
  ways: readonly ((person: Person) => readonly (string | undefined)[])[],
  scope = "",
): Person {
  const who = asked.trim().replace(/^@/, "").slice(0, MAX_SHOWN);
  const wanted = foldText(who);
  if (wanted === "") throw new ToolFault("params", "no person is named");
  for (const listNames of ways) {
    const fitting = people.filter((person) =>
      listNames(person).some((name) => name !== undefined && foldText(name) === wanted),
    );
    const [only, ...others] = fitting;
    if (only && others.length === 0) return only;
    const labels = fitting.slice(0, 10).map(({ realName, name, id }) => `${realName} (@${name}, ${id})`);
    if (only) throw new ToolFault("params", `'${who}' may be ${labels.join(" or ")}; use the id`);
  }
  const names = people.flatMap(({ name, realName }) => [name, realName]);
  const near = hintNearNames(who, names, "");
  throw new ToolFault("params", `there is nobody called '${who}' in this workspace${scope}${near}`);
}

/** The one channel with this name; undefined if there is none. Raises `params` if there are several. */
export function findChannelNamed<Channel extends { readonly id: string; readonly name: string }>(
  name: string,
  channels: readonly Channel[],
): Channel | undefined {
  const exact = channels.filter((channel) => channel.name === name);
  const fitting =
    exact.length > 0 ? exact : channels.filter((channel) => foldText(channel.name) === foldText(name));
  if (fitting.length < 2) return fitting[0];
  const labels = fitting.map((channel) => `#${channel.name} (${channel.id})`).join(", ");
  throw new ToolFault("params", `'${name.slice(0, MAX_SHOWN)}' may be several channels: ${labels}`);
}

/** The fault for a channel that is not there, with those that are near to it, or else some that are there. */
export function refuseChannel(name: string, names: readonly string[], note = ""): ToolFault {
  const some = names.length > 0 ? `; there are ${listMarked(names.slice(0, 5), "#")}` : "";
  const near = hintNearNames(name, names, "#") || some;
  return new ToolFault("params", `there is no channel '#${name.slice(0, MAX_SHOWN)}'${near}${note}`);
}

/** `; near: #a, #b`: the names most alike first; nothing if none is alike. */
function hintNearNames(wanted: string, names: readonly string[], mark: string): string {
  const pairs = pairLetters(wanted);
  const near = [...new Set(names)]
    .map((name) => ({ name, likeness: compareLikeness(pairs, pairLetters(name)) }))
    .filter(({ likeness }) => likeness >= 0.3)
    .sort((a, b) => b.likeness - a.likeness || (a.name < b.name ? -1 : 1))
    .slice(0, 5)
    .map(({ name }) => name);
  return near.length === 0 ? "" : `; near: ${listMarked(near, mark)}`;
}

function listMarked(names: readonly string[], mark: string): string {
  return names.map((name) => mark + name).join(", ");
}

function pairLetters(text: string): ReadonlySet<string> {
  const letters = [...` ${foldText(text).slice(0, MAX_SHOWN)} `];
  return new Set(letters.slice(1).map((letter, index) => `${letters[index]}${letter}`));
}

/** Share of letter pairs that both have: 0 for none, 1 for all. */
function compareLikeness(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  return (2 * [...a].filter((pair) => b.has(pair)).length) / (a.size + b.size);
}
