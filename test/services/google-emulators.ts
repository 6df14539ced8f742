import { type GoogleConfig, openGoogle } from "@retinue/assistant/google/open-google";
import { createEmulator, defineEmulator } from "emulate";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";
import { calendarEmulator, emptyCalendar, refuse } from "./google-calendar-emulator.ts";
import { addressBook, peopleEmulator } from "./google-people-emulator.ts";

/** Who the emulated account belongs to. */
export const OWNER = "alex@retinue.example";

const CLIENT = { clientId: "client.apps.example", clientSecret: "client-secret-value" };
const TOKEN = "valid-access-token";
const MESSAGES = "/gmail/v1/users/me/messages";

/** Emulated services of Google behind one fault proxy. */
export type EmulatedGoogle = Awaited<ReturnType<typeof startGoogle>>;

/** Starts Google's services on loopback: mail and sign-in of `emulate`, calendar and people of our own. */
export async function startGoogle(
  seed: {
    readonly messages?: readonly object[];
    readonly people?: Partial<ReturnType<typeof addressBook>>;
    readonly calendar?: Partial<ReturnType<typeof emptyCalendar>>;
    /** Events for the calendar of `emulate` itself, which then answers instead of ours. */
    readonly events?: readonly object[];
  } = {},
) {
  const google = await createEmulator({
    service: "google",
    port: 0,
    seed: {
      tokens: { [TOKEN]: { login: OWNER } },
      google: {
        users: [{ email: OWNER, name: "Alex Kim" }],
        oauth_clients: [
          {
            client_id: CLIENT.clientId,
            client_secret: CLIENT.clientSecret,
            redirect_uris: ["http://127.0.0.1/"],
          },
        ],
        calendar_events: seed.events ?? [],
        messages: (seed.messages ?? []).map((message) => ({ user_email: OWNER, ...message })),
      },
    },
  });
  const credentials = { ...CLIENT, refreshToken: await signIn(google.url), accessToken: TOKEN };
  const mail = await createEmulator({ service: mailGaps(google.url), port: 0 });
  const people = await createEmulator({
    service: peopleEmulator,
    port: 0,
    seed: { ...addressBook(), ...seed.people },
  });
  const calendar = await createEmulator({
    service: calendarEmulator,
    port: 0,
    seed: { ...emptyCalendar(), ...seed.calendar },
  });
  const proxy = await startFaultProxy((path) => {
    if (path.startsWith("/calendar/")) return seed.events ? google.url : calendar.url;
    if (path.startsWith("/v1/")) return people.url;
    return path === MESSAGES || path.endsWith("/profile") ? mail.url : google.url;
  });
  const all = [proxy, calendar, people, mail, google];
  return {
    proxy,
    calendar,
    /** Of the person's client, with an access token that is good. */
    credentials,
    open: (config: Partial<GoogleConfig> = {}) => openAt(proxy, credentials, config),
    /** Puts a message into the mailbox, as if it had arrived. */
    async receive(raw: string, threadId?: string): Promise<string> {
      const answer = await fetch(`${google.url}${MESSAGES}`, {
        method: "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        body: JSON.stringify({
          raw: Buffer.from(raw.replace(/\n/g, "\r\n")).toString("base64url"),
          labelIds: ["INBOX", "UNREAD"],
          threadId,
        }),
      });
      const { id } = (await answer.json()) as { id: string };
      return id;
    },
    /** A guest answers an invitation. */
    async answer(eventId: string, guest: object): Promise<void> {
      const body = JSON.stringify({ attendees: [guest] });
      await calendar.request(`/calendar/v3/calendars/primary/events/${eventId}`, { method: "PATCH", body });
    },
    async close() {
      for (const one of all) await one.close();
    },
  };
}

function openAt(proxy: FaultProxy, credentials: GoogleConfig["credentials"], config: Partial<GoogleConfig>) {
  return openGoogle({
    credentials,
    address: OWNER,
    rootUrl: proxy.url,
    tokenUrl: `${proxy.url}/oauth2/token`,
    zone: "Europe/Berlin",
    ...config,
  });
}

/** Walks through the consent page; only so the emulator gives a refresh token. */
async function signIn(url: string): Promise<string> {
  const redirect_uri = "http://127.0.0.1/";
  const consent = new URLSearchParams({
    email: OWNER,
    redirect_uri,
    scope: "openid email",
    client_id: CLIENT.clientId,
  });
  const page = await fetch(`${url}/o/oauth2/v2/auth/callback`, {
    method: "POST",
    body: consent,
    redirect: "manual",
  });
  const code = new URL(page.headers.get("location") ?? "").searchParams.get("code") ?? "";
  const exchange = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri,
    client_id: CLIENT.clientId,
    client_secret: CLIENT.clientSecret,
  });
  const answer = await fetch(`${url}/oauth2/token`, { method: "POST", body: exchange });
  return ((await answer.json()) as { refresh_token: string }).refresh_token;
}

/**
 * What `emulate` leaves out of Gmail: the profile, the search by Message-ID, whose prefix it cuts one letter short, and
 * that a token which nobody gave out is refused.
 */
function mailGaps(google: string) {
  return defineEmulator({
    name: "gmail-gaps",
    state: () => ({}),
    setup({ app }) {
      app.get("/gmail/v1/users/me/profile", (c) => c.json({ emailAddress: OWNER, messagesTotal: 1 }));
      app.get(MESSAGES, async (c) => {
        const headers = { authorization: c.req.header("authorization") ?? "" };
        if (!/^Bearer (?:valid-access-token|google_)/.test(headers.authorization))
          return refuse(401, "authError");
        const { search, searchParams } = new URL(c.req.url);
        const wanted = /^rfc822msgid:(\S+)$/.exec(searchParams.get("q") ?? "")?.[1];
        if (!wanted) return await fetch(`${google}${MESSAGES}${search}`, { headers });
        const answer = await fetch(`${google}${MESSAGES}?includeSpamTrash=true&maxResults=500`, { headers });
        const { messages = [] } = (await answer.json()) as { messages?: { id: string; threadId: string }[] };
        const found = [];
        for (const message of messages) {
          const one = await fetch(`${google}${MESSAGES}/${message.id}?format=metadata`, { headers });
          if ((await one.text()).includes(JSON.stringify(`<${wanted}>`))) found.push(message);
        }
        return c.json({ messages: found, resultSizeEstimate: found.length });
      });
    },
  });
}
