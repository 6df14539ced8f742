import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ModelServer, startModel } from "../cli/model.ts";
import { type EmulatedGoogle, startGoogle } from "../services/google-emulators.ts";
import { seeded } from "./attack.ts";

const KILLS = process.env.RETINUE_DEEP === "1" ? 100 : 2;
const SEED = 7;
const ROUNDS_PER_SERVER = 15;
const source = (path: string) => JSON.stringify(new URL(`../../packages/${path}`, import.meta.url).href);

/** One agent that sends one mail through Gmail, in a process of its own; goes on with what is open, if anything is. */
const CHILD = `
import { join } from "node:path";
import { createRuntime, defineAgent } from ${source("builtin/src/index.ts")};
import { createAssistantTools } from ${source("assistant/src/assistant-tools.ts")};
import { openGoogle } from ${source("assistant/src/google/open-google.ts")};
const [, folder, model, google, task] = process.argv;
const services = openGoogle({ credentials: JSON.parse(process.env.CREDENTIALS), address: "alex@retinue.example",
  rootUrl: google, tokenUrl: google + "/oauth2/token", zone: "UTC" });
const assistant = { open: async (service) => services[service], internalDomains: [], zone: "UTC", now: Date.now,
  close: async () => {} };
const runtime = createRuntime({
  agents: [defineAgent({ name: "lead", description: "x", prompt: "You are lead." })],
  tools: createAssistantTools(assistant), model: "local/mock", dataDir: join(folder, "data"), projectDir: folder,
  env: { HOME: folder, RETINUE_BASE_URL: model, RETINUE_MODEL: "mock" },
  approve: async () => ({ allowed: true, by: "Ada" }),
});
const { sessions } = await runtime.record.listSessions();
let begun;
for (const session of sessions)
  if ((await runtime.record.readRows({ sessionId: session.session_id, kind: "runs" })).length > 0) begun ??= session;
const result = begun?.status === "completed" ? { status: "completed" }
  : await (begun ? await runtime.resume(begun.session_id) : await runtime.start({ agent: "lead", task })).result;
await runtime.close();
process.stdout.write(result.status);
`;

/** When the process dies: before the server hears of the mail, before its answer arrives, or some time after that. */
type Moment = { kind: "before" | "answer" } | { kind: "after"; delayMs: number };

let google: EmulatedGoogle;
let model: ModelServer;
beforeAll(async () => {
  google = await startGoogle();
  model = await startModel(({ turn, messages }) => {
    const task = String(messages.find(({ role }) => role === "user")?.content);
    const input = { recipients: ["dana@acme.example"], subject: task, body: "The figures." };
    return turn === 0 ? { calls: [{ name: "gmail_send_email", input }] } : { text: "sent" };
  });
});
afterAll(async () => {
  await model.close();
  await google.close();
});

/** A way to the mail server on which the process that sends is killed at a chosen moment. */
async function deadlyWay(moment: Moment, kill: () => void) {
  const server = createServer(async (incoming, outgoing) => {
    const isSend = incoming.method === "POST" && incoming.url?.includes("/messages/send");
    const body = await buffer(incoming);
    if (isSend && moment.kind === "before") return kill();
    const headers = { ...incoming.headers, host: new URL(google.proxy.url).host };
    const onward = request(
      new URL(incoming.url ?? "/", google.proxy.url),
      { method: incoming.method, headers },
      async (answer) => {
        const answered = await buffer(answer);
        if (isSend && moment.kind === "answer") return kill();
        outgoing.writeHead(answer.statusCode ?? 500, {
          "content-type": answer.headers["content-type"] ?? "text/plain",
        });
        outgoing.end(answered);
        if (isSend && moment.kind === "after") setTimeout(kill, moment.delayMs);
      },
    );
    onward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

/** Lets the process live until it ends or is killed; gives what it said. */
async function live(folder: string, task: string, moment: Moment | null): Promise<string> {
  let child: ChildProcess | undefined;
  const way = moment && (await deadlyWay(moment, () => child?.kill("SIGKILL")));
  const args = [
    "--conditions=retinue-source",
    "--input-type=module",
    "--eval",
    CHILD,
    folder,
    model.url,
    way?.url ?? google.proxy.url,
    task,
  ];
  child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, CREDENTIALS: JSON.stringify(google.credentials) },
  });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    output += chunk;
  });
  const code = await new Promise((resolve) => child?.once("close", resolve));
  await way?.close();
  expect(code === 0 || code === null).toBe(true);
  return output;
}

async function sentMails(subject: string): Promise<number> {
  const { mail } = google.open();
  const { messages } = await mail.search({ subject, limit: 50 }, new AbortController().signal);
  return messages.filter((message) => message.subject === subject).length;
}

test(`a mail whose sender is killed around the send is delivered exactly once (${KILLS} kills)`, async () => {
  const random = seeded(SEED);
  const moments: readonly (() => Moment)[] = [
    () => ({ kind: "before" }),
    () => ({ kind: "answer" }),
    () => ({ kind: "after", delayMs: Math.floor(random() * 6) }),
  ];
  let killed = 0;
  for (let round = 0; killed < KILLS; round++) {
    // An emulator that has answered some thousand requests refuses more.
    if (round > 0 && round % ROUNDS_PER_SERVER === 0) {
      await google.close();
      google = await startGoogle();
    }
    const folder = mkdtempSync(join(tmpdir(), "retinue-send-"));
    const subject = `Figures ${round}`;
    const moment = moments[round % moments.length]?.() ?? { kind: "answer" };
    const first = await live(folder, subject, moment);
    if (first === "") killed++;
    else expect(first).toBe("completed");
    if (first === "") expect(await live(folder, subject, null)).toBe("completed");
    expect(await sentMails(subject), `${subject}, killed ${JSON.stringify(moment)}`).toBe(1);
    rmSync(folder, { recursive: true, force: true });
  }
}, 3_600_000);
