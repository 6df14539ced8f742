import type { SlackProvider } from "@retinue/assistant/slack/slack-provider";
import { openSlack, type SlackConfig } from "@retinue/assistant/slack-web/open-slack";
import { createEmulator, defineEmulator } from "emulate";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

/** Tokens that the workspace knows; `least` has no more scopes than the documentation asks for. */
export const TOKENS = {
  bot: "xoxb-alex-0001",
  renewed: "xoxe.xoxb-1-renewed",
  priya: "xoxp-priya-0001",
  user: "xoxp-alex-0001",
  least: "xoxb-least-0001",
  refresh: "xoxe-1-first",
} as const;

/** Scopes by feature, as documented: read public channels, people, and write. */
export const LEAST_SCOPES = [
  "channels:read",
  "channels:history",
  "users:read",
  "users:read.email",
  "chat:write",
];

type Match = { readonly ts: string; readonly user: string; readonly text: string; readonly channel: string };
type MissingState = { refreshToken: string; renewals: number; matches: Match[] };

/** What the emulator lacks: renewal of tokens and search, which takes user tokens only. */
const missingRoutes = defineEmulator<MissingState>({
  name: "slack-missing",
  state: () => ({ refreshToken: TOKENS.refresh, renewals: 0, matches: [] }),
  setup({ app, state }) {
    app.post("/api/oauth.v2.access", async (c) => {
      const form = new URLSearchParams(await c.req.text());
      const isRight =
        form.get("grant_type") === "refresh_token" &&
        form.get("refresh_token") === state.refreshToken &&
        form.get("client_id") === "client" &&
        form.get("client_secret") === "hush";
      if (!isRight) return c.json({ ok: false, error: "invalid_refresh_token" });
      state.renewals += 1;
      state.refreshToken = `xoxe-1-next-${state.renewals}`;
      const renewed = { access_token: TOKENS.renewed, refresh_token: state.refreshToken, expires_in: 43_200 };
      return c.json({ ok: true, ...renewed, token_type: "bot" });
    });
    app.post("/api/search.messages", async (c) => {
      const token = c.req.header("authorization")?.replace("Bearer ", "") ?? "";
      if (!token.startsWith("xoxp-")) return c.json({ ok: false, error: "not_allowed_token_type" });
      const form = new URLSearchParams(await c.req.text());
      return c.json({ ok: true, messages: searchIn(state.matches, form) });
    });
  },
});

/** Quoted words, `in:<#id>` and `from:<@id>`; newest first, by pages. */
function searchIn(messages: readonly Match[], form: URLSearchParams) {
  const query = form.get("query") ?? "";
  const words = [...query.matchAll(/"([^"]*)"/g)].map(([, word = ""]) => word.toLowerCase());
  const channel = /in:<#(\w+)>/.exec(query)?.[1];
  const from = /from:<@(\w+)>/.exec(query)?.[1];
  const hits = messages
    .filter((one) => words.every((word) => one.text.toLowerCase().includes(word)))
    .filter((one) => (channel ?? one.channel) === one.channel && (from ?? one.user) === one.user)
    .sort((a, b) => Number(b.ts) - Number(a.ts));
  const count = Number(form.get("count"));
  const start = (Number(form.get("page")) - 1) * count;
  const matches = hits.slice(start, start + count).map((one) => ({
    ...one,
    channel: { id: one.channel, name: "project-alpha" },
    permalink: `https://emulate.slack.com/archives/${one.channel}/p${one.ts.replace(".", "")}?thread_ts=${one.ts}`,
  }));
  return { total: hits.length, matches, paging: { count, pages: Math.ceil(hits.length / count) } };
}

/** An emulated workspace behind a fault proxy. */
export type Workspace = {
  readonly proxy: FaultProxy;
  readonly ids: Readonly<Record<"alex" | "priya" | "alpha", string>>;
  open(config?: Partial<SlackConfig>): SlackProvider;
  /** One request past the proxy. */
  direct(method: string, args: Record<string, string>, token?: string): Promise<Record<string, unknown>>;
  /** Texts in a channel as the server has them, newest first. */
  texts(channel: string): Promise<string[]>;
  addSearchable(match: Match): Promise<void>;
  renewals(): number;
  close(): Promise<void>;
};

const SEED = {
  team: { name: "Retinue", domain: "retinue" },
  users: [
    { name: "alex", real_name: "Alex Kim", email: "alex@retinue.example" },
    {
      name: "priya",
      real_name: "Priya Nair",
      email: "priya@retinue.example",
      profile: { title: "Designer" },
    },
    { name: "jonas", real_name: "Jonas Weber", email: "jonas@retinue.example" },
    { name: "jonas2", real_name: "Jonas Weber", email: "jonas2@retinue.example" },
  ],
  channels: [{ name: "project-alpha" }, { name: "project-beta" }, { name: "board", is_private: true }],
  tokens: [
    { token: TOKENS.bot, user: "alex" },
    { token: TOKENS.renewed, user: "alex" },
    { token: TOKENS.user, user: "alex" },
    { token: TOKENS.priya, user: "priya" },
    { token: TOKENS.least, user: "alex", scopes: LEAST_SCOPES },
  ],
  strict_scopes: true,
};

/** Starts a workspace of its own on loopback. */
export async function startWorkspace(): Promise<Workspace> {
  const slack = await createEmulator({ service: "slack", port: 0, seed: { slack: SEED } });
  const missing = await createEmulator({ service: missingRoutes, port: 0 });
  const isMissing = (path: string) => /\/(oauth\.v2\.access|search\.messages)$/.test(path);
  const proxy = await startFaultProxy((path) => (isMissing(path) ? missing.url : slack.url));

  async function direct(method: string, args: Record<string, string>, token: string = TOKENS.bot) {
    const response = await fetch(`${slack.url}/api/${method}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
      body: new URLSearchParams(args),
    });
    return (await response.json()) as Record<string, unknown>;
  }
  const findId = async (email: string) => {
    const { user } = await direct("users.lookupByEmail", { email });
    return (user as { id: string }).id;
  };
  const { channels } = await direct("conversations.list", {});
  const alpha = (channels as { id: string; name: string }[]).find(({ name }) => name === "project-alpha");
  const ids = {
    alex: await findId("alex@retinue.example"),
    priya: await findId("priya@retinue.example"),
    alpha: alpha?.id ?? "",
  };

  return {
    proxy,
    ids,
    direct,
    open: (config) => openSlack({ token: TOKENS.bot, apiUrl: `${proxy.url}/api/`, ...config }),
    async texts(channel) {
      const { messages } = await direct("conversations.history", { channel });
      return (messages as { text: string }[]).map(({ text }) => text);
    },
    async addSearchable(match) {
      const snapshot = missing.snapshot();
      await missing.restore({
        ...snapshot,
        state: { ...snapshot.state, matches: [...snapshot.state.matches, match] },
      });
    },
    renewals: () => missing.snapshot().state.renewals,
    async close() {
      await proxy.close();
      await Promise.all([slack.close(), missing.close()]);
    },
  };
}
