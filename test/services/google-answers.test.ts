import { createServer, type RequestListener } from "node:http";
import { openGoogle } from "@retinue/assistant/google/open-google";
import { afterEach, expect, test } from "vitest";

const signal = new AbortController().signal;
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function startServer(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((closed) => server.close(closed));
  });
  const at = server.address();
  return `http://127.0.0.1:${at !== null && typeof at === "object" ? at.port : 0}/`;
}

function openAt(url: string, accessToken?: string) {
  return openGoogle({
    credentials: { clientId: "c", clientSecret: "GOCSPX-x", refreshToken: "1//refresh", accessToken },
    ...{ address: "ada@example.org", tokenUrl: `${url}token`, rootUrl: url, zone: "UTC" },
  });
}

const MAIL = {
  ...{ messageId: "<k@example.org>", to: ["dana@acme.example"], cc: [], bcc: [] },
  ...{ subject: "Hi", text: "Hello" },
};

test("neither secrets nor mails follow a redirect to another place", async () => {
  const heard: string[] = [];
  const other = await startServer((request, response) => {
    heard.push(request.url ?? "");
    response.setHeader("content-type", "application/json").end('{"access_token":"ya29.x","id":"1"}');
  });
  const url = await startServer((_request, response) => {
    response.writeHead(307, { location: `${other}elsewhere` }).end();
  });
  await expect(openAt(url).mail.search({ limit: 1 }, signal)).rejects.toMatchObject({ type: "network" });
  await expect(openAt(url, "ya29.good").mail.send(MAIL, signal)).rejects.toMatchObject({ type: "network" });
  expect(heard).toEqual([]);
});

test("a page in place of Google's answer does not pass for an empty mailbox, calendar or address book", async () => {
  const url = await startServer((_request, response) => {
    response.setHeader("content-type", "text/html").end("<html>Sign in to the guest network</html>");
  });
  const { mail, calendar, contacts } = openAt(url, "ya29.good");
  const span = { from: Date.parse("2026-11-16T00:00:00Z"), to: Date.parse("2026-11-17T00:00:00Z"), limit: 5 };
  for (const call of [
    () => mail.search({ limit: 1 }, signal),
    () => calendar.list(span, signal),
    () => contacts.search({ limit: 1 }, signal),
  ])
    await expect(call()).rejects.toMatchObject({
      type: "tool_error",
      message: expect.stringContaining("not JSON"),
    });
});

test("a mail is called sent, and a draft kept, only if Gmail names it", async () => {
  const url = await startServer((_request, response) => {
    response.setHeader("content-type", "application/json").end("{}");
  });
  const { mail } = openAt(url, "ya29.good");
  await expect(mail.send(MAIL, signal)).rejects.toMatchObject({ type: "tool_error" });
  await expect(mail.draft(MAIL, signal)).rejects.toMatchObject({ type: "tool_error" });
});
