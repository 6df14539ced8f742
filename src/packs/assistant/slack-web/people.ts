import { ToolFault } from "../errors/tool-fault.ts";
import type { SlackUser } from "../slack/slack-provider.ts";
import { type Answer, isWord, recordIn, textIn } from "./answer.ts";
import { inBatches, listAll, orElse } from "./many-calls.ts";
import { folded, nearHint } from "./near-names.ts";
import type { SlackApi } from "./slack-api.ts";
import type { Team } from "./team.ts";

/** Somebody, with what decides whether writing to them leaves the organisation. */
export type Person = SlackUser & {
  /** The name of the account, which the person does not choose anew like the one that is shown. */
  readonly handle: string;
  readonly isOutside: boolean;
};

/** The people of a workspace, kept for a while. */
export type People = {
  /** By id, `@name`, name, real name or mail address. */
  find(who: string, signal: AbortSignal): Promise<Person>;
  /** Gets the names of ids that are not known yet; those that Slack will not tell stay ids. */
  learn(ids: Iterable<string>, signal: AbortSignal): Promise<void>;
  /** As far as it was learnt. */
  nameOf(id: string): string | undefined;
};

const LISTED = 5_000;
const KEPT_MS = 5 * 60_000;
const KEPT_PEOPLE = 20_000;
const AT_ONCE = 5;

type Listing = { readonly at: number; readonly people: readonly Person[]; readonly isWhole: boolean };

/** Creates the directory of people. */
export function createPeople(api: SlackApi, team: Team): People {
  const names = new Map<string, string>();
  let listing: Listing | undefined;

  function remember(id: string, name: string): void {
    if (names.size >= KEPT_PEOPLE) names.clear();
    names.set(id, name);
  }

  /** Whether somebody is of another organisation must be known, so that the workspace's identity is needed here. */
  async function read(user: unknown, signal: AbortSignal): Promise<Person> {
    const person = personIn(recordIn(user), await team.identity(signal));
    remember(person.id, person.name);
    return person;
  }

  async function list(signal: AbortSignal): Promise<Listing> {
    if (listing && api.now() - listing.at < KEPT_MS) return listing;
    const found = await listAll(api, { method: "users.list", field: "members", cap: LISTED }, signal);
    const present = found.items.filter((user) => user.deleted !== true);
    const own = await team.identity(signal);
    const people = present.map((user) => personIn(user, own));
    for (const { id, name } of people) remember(id, name);
    listing = { at: api.now(), people, isWhole: found.isWhole };
    return listing;
  }

  async function byId(id: string, signal: AbortSignal): Promise<Person> {
    return read((await api.call("users.info", { user: id }, signal)).user, signal);
  }

  return {
    async find(given, signal) {
      const who = given.trim();
      const id = /^(?:<@)?([UW][A-Z0-9]{6,20})(?:\|[^<>]*)?>?$/.exec(who)?.[1];
      const byName = async () => onlyMatch(who, await list(signal));
      if (id !== undefined) return orElse(byId(id, signal), isWord(who) ? byName : undefined);
      if (!/^[^\s@<>]+@[^\s@<>]+$/.test(who)) return byName();
      return read((await api.call("users.lookupByEmail", { email: who }, signal)).user, signal);
    },
    async learn(ids, signal) {
      const missing = [...new Set(ids)].filter((id) => /^[UW][A-Z0-9]{1,30}$/.test(id) && !names.has(id));
      await inBatches(missing, AT_ONCE, async (id) => {
        try {
          const { user } = await api.call("users.info", { user: id }, signal);
          remember(id, nameIn(recordIn(user)) ?? id);
        } catch (thrown) {
          if (!isRefusal(thrown)) throw thrown;
          remember(id, id);
        }
      });
    },
    nameOf: (id) => names.get(id),
  };
}

function onlyMatch(given: string, { people, isWhole }: Listing): Person {
  const who = given.replace(/^@/, "").slice(0, 80);
  const wanted = folded(who);
  if (wanted === "") throw new ToolFault("params", "no person is named");
  const isNamed = (name: string) => folded(name) === wanted;
  const matches = people.filter((one) => [one.handle, one.name, one.realName].some(isNamed));
  const [only, ...others] = matches;
  if (only && others.length === 0) return only;
  if (only)
    throw new ToolFault("params", `'${who}' may be ${matches.map(describe).join(" or ")}; use the id`);
  const near = nearHint(
    who,
    people.flatMap((one) => [one.name, one.realName]),
    "",
  );
  const scope = isWhole ? "" : ` among the first ${LISTED} people`;
  throw new ToolFault("params", `there is nobody called '${who}' in this workspace${scope}${near}`);
}

/** Slack will not say it, today or tomorrow. */
function isRefusal(thrown: unknown): boolean {
  return thrown instanceof ToolFault && (thrown.type === "params" || thrown.type === "permission");
}

function describe({ realName, name, id }: Person): string {
  return `${realName} (@${name}, ${id})`;
}

function personIn(
  user: Answer,
  own: { teamId: string | undefined; enterpriseId: string | undefined },
): Person {
  const profile = recordIn(user.profile);
  const id = textIn(user.id);
  if (id === undefined) throw new ToolFault("tool_error", "Slack described a person without an id");
  const handle = textIn(user.name) ?? id;
  const optional = {
    title: textIn(profile.title),
    email: textIn(profile.email),
    zone: textIn(user.tz),
    status: textIn([profile.status_emoji, profile.status_text].filter(textIn).join(" ")),
  };
  return {
    id,
    handle,
    name: nameIn(user) ?? handle,
    realName: textIn(profile.real_name) ?? textIn(user.real_name) ?? handle,
    isBot: user.is_bot === true,
    isOutside: isOutside(user, own),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
  };
}

/** As mentions show it. */
function nameIn(user: Answer): string | undefined {
  return textIn(recordIn(user.profile).display_name) ?? textIn(user.name);
}

/** Of another organisation, or nobody knows. Workspaces of one enterprise belong together. */
function isOutside(
  user: Answer,
  own: { teamId: string | undefined; enterpriseId: string | undefined },
): boolean {
  if (user.is_stranger === true) return true;
  const teamId = textIn(user.team_id);
  if (teamId !== undefined && teamId === own.teamId) return false;
  const enterpriseId = textIn(recordIn(user.enterprise_user).enterprise_id);
  return enterpriseId === undefined || enterpriseId !== own.enterpriseId;
}
