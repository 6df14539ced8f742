import { createHash } from "node:crypto";
import { createServer } from "node:http";

/** How the server behaves; what is left out is done right. */
export type OAuthBehaviour = {
  /** The person at the page says no. */
  denies?: boolean;
  /** Sends the browser back with another state. */
  wrongState?: boolean;
  /** The scopes that the person leaves ticked; all if absent. */
  grants?: (scopes: readonly string[]) => readonly string[];
  noRefreshToken?: boolean;
};

/** A local OAuth server that knows one client, checks PKCE, and keeps what it was asked. */
export type OAuthServer = {
  readonly authUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly refreshToken: string;
  readonly accessToken: string;
  /** Parameters of each consent page that was opened. */
  readonly pages: URLSearchParams[];
  /** Forms that came for tokens, and how they were answered. */
  readonly exchanges: { form: URLSearchParams; status: number }[];
  behaviour: OAuthBehaviour;
  /** Opens the page as a browser would, and follows it back; the status and text of what the person then sees. */
  visit(url: string): Promise<{ status: number; text: string }>;
  close(): Promise<void>;
};

/** Starts one on a free port. */
export async function startOAuthServer(address = "ada@example.org"): Promise<OAuthServer> {
  const codes = new Map<string, { challenge: string; redirect: string; scope: string }>();
  const pages: OAuthServer["pages"] = [];
  const exchanges: OAuthServer["exchanges"] = [];
  const client = { clientId: "client-1.apps.example", clientSecret: "GOCSPX-client-secret-93751" };
  const tokens = { refreshToken: "1//refresh-token-5830174629", accessToken: "ya29.access-token-2840175936" };

  function consent(asked: URLSearchParams): string {
    pages.push(asked);
    const { denies, wrongState, grants = (scopes: readonly string[]) => scopes } = oauth.behaviour;
    const back = new URL(asked.get("redirect_uri") ?? "");
    back.searchParams.set("state", wrongState ? "another" : (asked.get("state") ?? ""));
    if (denies) back.searchParams.set("error", "access_denied");
    else {
      const code = `code-${codes.size + 1}-8462957301`;
      const scope = grants((asked.get("scope") ?? "").split(" ")).join(" ");
      codes.set(code, {
        challenge: asked.get("code_challenge") ?? "",
        redirect: back.origin + back.pathname,
        scope,
      });
      back.searchParams.set("code", code);
    }
    return back.href;
  }

  function exchange(form: URLSearchParams): { status: number; value: object } {
    if (form.get("client_id") !== client.clientId || form.get("client_secret") !== client.clientSecret)
      return { status: 401, value: { error: "invalid_client" } };
    const code = form.get("code") ?? "";
    const known = codes.get(code);
    codes.delete(code);
    const proof = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (!known || known.challenge !== proof || known.redirect !== form.get("redirect_uri"))
      return { status: 400, value: { error: "invalid_grant" } };
    const claims = Buffer.from(JSON.stringify({ email: address })).toString("base64url");
    return {
      status: 200,
      value: {
        access_token: tokens.accessToken,
        ...(!oauth.behaviour.noRefreshToken && { refresh_token: tokens.refreshToken }),
        expires_in: 3599,
        scope: known.scope,
        token_type: "Bearer",
        id_token: `e30.${claims}.c2ln`,
      },
    };
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "", "http://127.0.0.1");
    if (url.pathname === "/auth") {
      response.writeHead(302, { location: consent(url.searchParams) }).end();
      return;
    }
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const form = new URLSearchParams(text);
    const { status, value } = exchange(form);
    exchanges.push({ form, status });
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const at = server.address();
  const origin = `http://127.0.0.1:${at !== null && typeof at === "object" ? at.port : 0}`;
  const oauth: OAuthServer = {
    authUrl: `${origin}/auth`,
    tokenUrl: `${origin}/token`,
    ...client,
    ...tokens,
    pages,
    exchanges,
    behaviour: {},
    async visit(url) {
      const response = await fetch(url);
      return { status: response.status, text: await response.text() };
    },
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return oauth;
}
