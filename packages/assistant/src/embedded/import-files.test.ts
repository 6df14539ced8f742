import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { type EmbeddedStore, openEmbedded } from "./embedded-store.ts";
import { exportTo } from "./export-files.ts";
import { importFile, importFolder } from "./import-files.ts";

const NOW = Date.parse("2026-11-16T09:00:00Z");
const { signal } = new AbortController();
const EXAMPLES = fileURLToPath(new URL("../../../../examples/assistant/", import.meta.url));
const folders: string[] = [];
const stores: EmbeddedStore[] = [];

function makeFolder(files: Record<string, string | Buffer> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "embedded-"));
  folders.push(folder);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

function openStore(file = ":memory:"): EmbeddedStore {
  const store = openEmbedded({ file, now: () => NOW, zone: "UTC" });
  stores.push(store);
  return store;
}

afterEach(() => {
  for (const store of stores.splice(0)) store.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Everything in a store that a person can come to see. */
function readContents(store: EmbeddedStore): unknown {
  const { db } = store.database();
  const all = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) =>
        JSON.stringify(row, (_, v) => (v instanceof Uint8Array ? Buffer.from(v).toString("latin1") : v)),
      );
  return [
    all("SELECT name, address, zone FROM owner"),
    all(
      "SELECT id, folder, message_id, thread_id, date_ms, sender, recipients, subject, snippet, unread, has_attachment, bytes FROM mails ORDER BY id",
    ),
    all("SELECT * FROM bounces ORDER BY message_id, address"),
    all("SELECT * FROM events ORDER BY calendar, uid"),
    all("SELECT * FROM contacts ORDER BY id"),
    all("SELECT * FROM slack_users ORDER BY id"),
    all("SELECT * FROM slack_channels ORDER BY id"),
    all(
      "SELECT channel_id, ts, thread_ts, user_id, user_name, text, reactions, call_key FROM slack_messages ORDER BY channel_id, ts",
    ),
    all("SELECT subject, people, body FROM mail_texts ORDER BY subject, body, people"),
    all("SELECT body FROM slack_texts ORDER BY body"),
  ];
}

test("the example folder is imported whole, and a second time changes nothing", async () => {
  const store = openStore();
  const report = await importFolder(store, EXAMPLES);
  expect(report).toEqual({
    counts: { mails: 18, events: 11, contacts: 9, channels: 2, messages: 37 },
    skipped: 0,
    problems: [],
  });
  expect(store.database().owner()).toEqual({
    name: "Alex Kim",
    address: "alex@retinue.example",
    zone: "Europe/Berlin",
  });
  const before = readContents(store);
  expect(await importFolder(store, EXAMPLES)).toMatchObject({
    counts: { mails: 0, events: 0, contacts: 0, messages: 0 },
    skipped: 77,
  });
  expect(readContents(store)).toEqual(before);
});

test("the free slot that the examples promise is free", async () => {
  const { calendar, ...store } = openStore();
  await importFolder({ calendar, ...store }, EXAMPLES);
  const span = { from: Date.parse("2026-11-17T13:00:00Z"), to: Date.parse("2026-11-17T14:00:00Z") };
  const busy = await calendar.busy(["alex@retinue.example", "priya@retinue.example"], span, signal);
  expect(busy.map((one) => one.busy)).toEqual([[], []]);
});

test("an export can be read by nobody else, and imported gives the same store", async () => {
  const store = openStore();
  await importFolder(store, EXAMPLES);
  const slack = { channelId: "C02ALPHA", text: "Posted <@U04MEI>", callKey: "k1" };
  await store.slack.post(slack, signal);
  await store.slack.post(
    { channelId: (await store.slack.channel("@mei", signal)).id, text: "Hi", callKey: "k2" },
    signal,
  );
  const mail = {
    cc: [],
    bcc: ["mei@retinue.example"],
    subject: "Grüße",
    text: "From me\n\nFrom x Tue Oct 20 08:00:00 2026\n.\n",
  };
  await store.mail.send({ messageId: "<retinue-1@x>", to: ["alex@retinue.example"], ...mail }, signal);
  await store.mail.draft({ messageId: "<retinue-2@x>", to: ["a@b.example"], ...mail }, signal);
  const start = { kind: "instant", at: "2026-11-20T10:00:00Z", zone: "Asia/Kolkata" } as const;
  await store.calendar.create(
    {
      id: "k3",
      title: "T; x, \\n",
      start,
      end: start,
      attendees: ["a@b.example"],
      recurrence: "FREQ=DAILY",
      notify: false,
    },
    signal,
  );
  const folder = join(makeFolder(), "export");
  const { files } = await exportTo(store, folder);
  for (const file of files) expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
  for (const name of ["", "mail", "slack", "slack/general"])
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o700);
  const other = openStore();
  expect((await importFolder(other, folder)).problems).toEqual([]);
  expect(readContents(other)).toEqual(readContents(store));
  await expect(exportTo(store, folder)).rejects.toThrow("not empty");
});

test("what was written comes back from an export, whatever it says", async () => {
  const words = fc.string({ unit: "grapheme", maxLength: 40 });
  const item = fc.record({ subject: words, text: words, lines: fc.array(words, { maxLength: 4 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 4 }), async (items) => {
      const store = openStore();
      await importFolder(
        store,
        makeFolder({
          "owner.json": '{"name":"A","address":"a@b.example","zone":"UTC"}',
          "slack/channels.json": '[{"id":"C1","name":"x"}]',
        }),
      );
      for (const [at, { subject, text, lines }] of items.entries()) {
        const to = at % 2 ? ["a@b.example"] : ["c@d.example"];
        await store.mail.send(
          { messageId: `<${at}@x>`, to, cc: [], bcc: [], subject, text: lines.join("\n") },
          signal,
        );
        await store.slack.post({ channelId: "C1", text: `${text}.`, callKey: `k${at}` }, signal);
        const start = { kind: "instant", at: "2026-11-20T10:00:00Z", zone: "UTC" } as const;
        await store.calendar.create(
          {
            id: `e${at}`,
            title: subject,
            description: text,
            start,
            end: start,
            attendees: [],
            notify: false,
          },
          signal,
        );
      }
      const folder = join(makeFolder(), "out");
      await exportTo(store, folder);
      const other = openStore();
      expect((await importFolder(other, folder)).problems).toEqual([]);
      expect(readContents(other)).toEqual(readContents(store));
    }),
    { numRuns: 15 },
  );
});

test("bad files are named and hide no others", async () => {
  const folder = makeFolder({
    "bad.ics": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID",
    "bad.vcf": "\0\0\0",
    "empty.eml": "",
    "good.eml": "From: a@b.example\nSubject: good\n\ntext\n",
    "owner.json": '{"address":"a@b, c@d"}',
    "slack/channels.json":
      '[{"id":"C1","name":"../../etc"},{"id":"C2","name":"fine"},7,null,{"id":"C3","name":"fine"}]',
    "slack/users.json": "{",
    "slack/fine/2026-11-01.json":
      '[{"type":"message","ts":"1.000000","user":"U1","text":"hi"},{"type":"message","ts":"../x","text":"no"},{"ts":5}]',
    "slack/fine/2026-11-02.json": "not json",
    "slack/fine/notes.json": "[]",
    "readme.txt": "ignored",
  });
  const store = openStore();
  const report = await importFolder(store, folder);
  expect(report.counts).toEqual({ mails: 1, events: 0, contacts: 0, channels: 1, messages: 1 });
  expect([...new Set(report.problems.map(({ file }) => file))].toSorted()).toEqual([
    "bad.ics",
    "bad.vcf",
    "empty.eml",
    "owner.json",
    "slack/channels.json",
    "slack/fine/2026-11-02.json",
    "slack/users.json",
  ]);
  expect(store.database().owner().address).toBe("me@localhost");
});

test("links, pipes and folders outside are not read", async () => {
  const outside = makeFolder({ "secret.eml": "From: a@b.example\nSubject: secret\n\ntext\n" });
  const folder = makeFolder({ "slack/channels.json": '[{"id":"C1","name":"x"}]' });
  symlinkSync(join(outside, "secret.eml"), join(folder, "link.eml"));
  symlinkSync(outside, join(folder, "linked"));
  symlinkSync(outside, join(folder, "slack", "x"));
  const store = openStore();
  const report = await importFolder(store, folder);
  expect(report.counts.mails).toBe(0);
  expect(report.problems).toEqual([{ file: "link.eml", message: expect.stringContaining("symbolic link") }]);
});

test("a single file is imported, and one of another kind is refused with the kinds that can be", async () => {
  const store = openStore();
  expect((await importFile(store, join(EXAMPLES, "contacts.vcf"))).counts.contacts).toBe(9);
  const [problem] = (await importFile(store, join(EXAMPLES, "owner.json"))).problems;
  expect(problem?.message).toContain(".mbox");
  expect((await importFile(store, join(EXAMPLES, "none.eml"))).problems).toHaveLength(1);
  expect((await importFolder(store, join(EXAMPLES, "none"))).problems).toHaveLength(1);
});

test("a message too large to be read hides no other of its file", async () => {
  const mail = (subject: string, body: string) =>
    `From x Tue Oct 20 08:00:00 2026\nSubject: ${subject}\n\n${body}\n\n`;
  const content = mail("one", "a") + mail("bomb", "\n".repeat(700_000)) + mail("two", "b");
  const report = await importFolder(openStore(), makeFolder({ "all.mbox": content }));
  expect(report.counts.mails).toBe(2);
  expect(report.problems).toEqual([{ file: "all.mbox", message: expect.stringContaining("lines") }]);
});

test("an imported folder cannot take over a store that has an owner", async () => {
  const store = openStore();
  await importFolder(store, EXAMPLES);
  await importFolder(store, makeFolder({ "owner.json": '{"name":"Eve","address":"eve@evil.example"}' }));
  expect(store.database().owner().address).toBe("alex@retinue.example");
});

test("two processes that fill one store at once fill it once", async () => {
  const file = join(makeFolder(), "mailbox.db");
  const [one, two] = [openStore(file), openStore(file)];
  const reports = await Promise.all([importFolder(one, EXAMPLES), importFolder(two, EXAMPLES)]);
  expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
  expect(reports.reduce((sum, { counts }) => sum + counts.mails, 0)).toBe(18);
  expect(readContents(one)).toEqual(readContents(two));
});

test("the store is a file that only its owner can read, and is made at its first use", async () => {
  const folder = makeFolder();
  chmodSync(folder, 0o700);
  const file = join(folder, "mailbox.db");
  const store = openStore(file);
  expect(readdirSync(folder)).toEqual([]);
  expect(store.database().isEmpty()).toBe(true);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await importFolder(store, EXAMPLES);
  expect(store.database().isEmpty()).toBe(false);
  store.close();
  expect((await openStore(file).mail.search({ text: "budget", limit: 5 }, signal)).total).toBe(2);
});
