import type { calendar_v3 } from "@googleapis/calendar";
import type { gmail_v1 } from "@googleapis/gmail";
import type { people_v1 } from "@googleapis/people";
import type { OAuth2Client } from "google-auth-library";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { toGoogleFault } from "./google-fault.ts";
import { type GoogleSession, LOOPBACK_HOSTS } from "./google-session.ts";

/** The official clients, each loaded at its first use. */
type GoogleClients = {
  readonly gmail: gmail_v1.Gmail;
  readonly calendar: calendar_v3.Calendar;
  readonly people: people_v1.People;
};

/** What every request carries: no repetition by the client, no way to another place, an end in time, and the caller's signal. */
export type RequestOptions = {
  readonly retry: false;
  readonly redirect: "error";
  readonly timeout: number;
  readonly signal: AbortSignal;
  readonly noProxy: string[];
  readonly headers?: Record<string, string>;
};

/** One service of Google: runs requests and turns every failure into a fault. */
export type GoogleApi<Name extends keyof GoogleClients> = {
  request<Data>(
    about: string,
    signal: AbortSignal,
    run: (client: GoogleClients[Name], options: RequestOptions) => Promise<{ data: Data }>,
  ): Promise<Data>;
  refresh(signal: AbortSignal): Promise<void>;
};

type Opener<Name extends keyof GoogleClients> = (
  auth: OAuth2Client,
  rootUrl: string | undefined,
) => Promise<GoogleClients[Name]>;

const openers: { readonly [Name in keyof GoogleClients]: Opener<Name> } = {
  async gmail(auth, rootUrl) {
    const { gmail } = await import("@googleapis/gmail");
    return gmail({ version: "v1", auth, ...(rootUrl ? { rootUrl } : {}) });
  },
  async calendar(auth, rootUrl) {
    const { calendar } = await import("@googleapis/calendar");
    return calendar({ version: "v3", auth, ...(rootUrl ? { rootUrl } : {}) });
  },
  async people(auth, rootUrl) {
    const { people } = await import("@googleapis/people");
    return people({ version: "v1", auth, ...(rootUrl ? { rootUrl } : {}) });
  },
};

/** Opens one service on a session. */
export function openApi<Name extends keyof GoogleClients>(
  name: Name,
  session: GoogleSession,
  { rootUrl, timeoutMs }: { readonly rootUrl?: string | undefined; readonly timeoutMs: number },
): GoogleApi<Name> {
  let client: Promise<GoogleClients[Name]> | undefined;
  return {
    refresh: session.refresh,
    async request(about, signal, run) {
      try {
        const auth = await session.client(signal);
        client ??= openers[name](auth, rootUrl);
        const noProxy = [...LOOPBACK_HOSTS];
        const fixed = { retry: false, redirect: "error", timeout: timeoutMs } as const;
        const { data } = await run(await client, { ...fixed, signal, noProxy });
        // A page of somebody in between, such as a proxy, must not pass for an empty answer.
        if (typeof data === "string" && data !== "")
          throw new ToolFault("tool_error", `Google's answer for ${about} is of no use: it is no JSON`);
        return data;
      } catch (thrown) {
        throw toGoogleFault(thrown, { about, signal, clean: session.clean });
      }
    },
  };
}
