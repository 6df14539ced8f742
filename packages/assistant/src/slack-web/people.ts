// The people of a workspace at Slack, and which workspace it is.

import {
  type JsonObject,
  keepFresh,
  mapLimited,
  recordIn,
  textIn,
} from "../service-tools/service-requests.ts";
import { isServiceFault, ToolFault } from "../service-tools/tool-fault.ts";
import { pickPerson } from "../slack/pick-name.ts";
import type { SlackUser } from "../slack/slack-provider.ts";
import { listAll, type SlackApi } from "./slack-api.ts";

/** Somebody, with what decides whether writing to them leaves the organisation. */
export type SlackPerson = SlackUser & {
  /** The name of the account; unlike the name that is shown, its owner does not change it. */
  readonly handle: string;
  readonly isOutside: boolean;
};

/** The people of a workspace, kept for a while. */
export type SlackPeople = {
  /** By id, `@name`, name, real name or mail address. */
  find(who: string, signal: AbortSignal): Promise<SlackPerson>;
  /** Gets the names of unknown ids; ids that Slack does not resolve stay ids. */
  learn(ids: Iterable<string>, signal: AbortSignal): Promise<void>;
  /** Undefined until it was learnt. */
  getName(id: string): string | undefined;
  /** The workspace that the token belongs to; asked once. */
  identity(signal: AbortSignal): Promise<Identity>;
};

const LISTED = 5_000;
const KEPT_MS = 5 * 60_000;
const KEPT_PEOPLE = 20_000;
const AT_ONCE = 5;

/** The workspace a token belongs to. */
export type Identity = {
  /** Where its pages are, with a slash at the end. */
  readonly url?: string;
  readonly teamId?: string;
  readonly enterpriseId?: string;
};

/** Creates the directory of people. */
export function createPeople(api: SlackApi): SlackPeople {
  const names = new Map<string, string>();
  const identity = keepFresh(async (signal) => readIdentity(await api.call("auth.test", {}, signal)));
  const list = keepFresh(listPeople, KEPT_MS, api.now);

  function remember(id: string, name: string): void {
    if (names.size >= KEPT_PEOPLE) names.clear();
    names.set(id, name);
  }

  /** Needs the workspace's identity, to tell people of other organisations. */
  async function read(user: unknown, signal: AbortSignal): Promise<SlackPerson> {
    const person = readPerson(recordIn(user), await identity(signal));
    remember(person.id, person.name);
    return person;
  }

  async function listPeople(signal: AbortSignal) {
    const listed = { method: "users.list", field: "members", cap: LISTED };
    const { items, isWhole } = await listAll(api, listed, signal);
    const own = await identity(signal);
    const people = items.filter((user) => user.deleted !== true).map((user) => readPerson(user, own));
    for (const { id, name } of people) remember(id, name);
    return { people, isWhole };
  }

  async function byId(id: string, signal: AbortSignal): Promise<SlackPerson> {
    return read((await api.call("users.info", { user: id }, signal)).user, signal);
  }

  return {
    async find(given, signal) {
      const who = given.trim();
      const id = /^(?:<@)?([UW][A-Z0-9]{6,20})(?:\|[^<>]*)?>?$/.exec(who)?.[1];
      const byName = async () => {
        const { people, isWhole } = await list(signal);
        const scope = isWhole ? "" : ` among the first ${LISTED} people`;
        return pickPerson(who, people, [(one) => [one.handle, one.name, one.realName]], scope);
      };
      if (id !== undefined) return tryOr(byId(id, signal), isWord(who) ? byName : undefined);
      if (!/^[^\s@<>]+@[^\s@<>]+$/.test(who)) return byName();
      return read((await api.call("users.lookupByEmail", { email: who }, signal)).user, signal);
    },
    async learn(ids, signal) {
      const missing = [...new Set(ids)].filter((id) => /^[UW][A-Z0-9]{1,30}$/.test(id) && !names.has(id));
      await mapLimited(missing, AT_ONCE, async (id) => {
        try {
          const { user } = await api.call("users.info", { user: id }, signal);
          remember(id, readShownName(recordIn(user)) ?? id);
        } catch (thrown) {
          // Slack will not say it, today or tomorrow.
          if (!isServiceFault(thrown, "params", "permission")) throw thrown;
          remember(id, id);
        }
      });
    },
    getName: (id) => names.get(id),
    identity,
  };
}

function readPerson(user: JsonObject, own: Identity): SlackPerson {
  const profile = recordIn(user.profile);
  const id = textIn(user.id);
  if (id === undefined) throw new ToolFault("tool_error", "Slack described a person without an id");
  const handle = textIn(user.name) ?? id;
  return {
    id,
    handle,
    name: readShownName(user) ?? handle,
    realName: textIn(profile.real_name) ?? textIn(user.real_name) ?? handle,
    isBot: user.is_bot === true,
    isOutside: isOutside(user, own),
    title: textIn(profile.title),
    email: textIn(profile.email),
    zone: textIn(user.tz),
    status: textIn([profile.status_emoji, profile.status_text].filter(textIn).join(" ")),
  };
}

/** As mentions show it. */
function readShownName(user: JsonObject): string | undefined {
  return textIn(recordIn(user.profile).display_name) ?? textIn(user.name);
}

/** Of another organisation, or of an unknown one. Workspaces of one enterprise belong together. */
function isOutside(user: JsonObject, own: Identity): boolean {
  if (user.is_stranger === true) return true;
  const teamId = textIn(user.team_id);
  if (teamId !== undefined && teamId === own.teamId) return false;
  const enterpriseId = textIn(recordIn(user.enterprise_user).enterprise_id);
  return enterpriseId === undefined || enterpriseId !== own.enterpriseId;
}

function readIdentity(answer: JsonObject): Identity {
  const url = textIn(answer.url);
  const isSafe = url !== undefined && URL.parse(url)?.protocol === "https:";
  return {
    url: isSafe ? url.replace(/\/*$/, "/") : undefined,
    teamId: textIn(answer.team_id),
    enterpriseId: textIn(answer.enterprise_id),
  };
}

/** The address of a message in the browser, built without asking; undefined if the workspace's is not known. */
export function buildMessageLink(
  url: string | undefined,
  message: { readonly channelId: string; readonly ts: string; readonly threadTs?: string | undefined },
): string | undefined {
  if (url === undefined) return undefined;
  const { channelId, ts, threadTs } = message;
  const link = `${url}archives/${channelId}/p${ts.replace(".", "")}`;
  if (threadTs === undefined || threadTs === ts) return link;
  return `${link}?${new URLSearchParams({ thread_ts: threadTs, cid: channelId })}`;
}

/** Written like an id, but without digits, so perhaps a name in capitals. */
export function isWord(text: string): boolean {
  return /^[A-Z]+$/.test(text);
}

/** The first outcome, or if that finds nothing the second one, if there is one. */
export async function tryOr<Value>(
  first: Promise<Value>,
  second: (() => Promise<Value>) | undefined,
): Promise<Value> {
  try {
    return await first;
  } catch (thrown) {
    if (!second || !isServiceFault(thrown, "params")) throw thrown;
    return second();
  }
}
