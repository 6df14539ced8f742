// Imports .eml, .mbox, .ics and .vcf files and Slack exports into the local store.

import { basename, dirname, extname, resolve } from "node:path";
import { isZone } from "@retinue/core/text/zone";
import { splitBlocks } from "../calendar/ical/jcal.ts";
import { parseCalendar, readSequence } from "../calendar/ical/series.ts";
import { parseCards } from "../contacts/vcard.ts";
import { oneLine, readMail } from "../mail/mail-format.ts";
import { recordIn, textIn } from "../service-tools/service-requests.ts";
import { addEvent, buildEventRow, findSeries, OWN_CALENDAR, replaceEvent } from "./embedded-calendar.ts";
import { putContact } from "./embedded-contacts.ts";
import type { EmbeddedDatabase, StoreOwner } from "./embedded-database.ts";
import { loadMailRow, type MailFolder, putMail } from "./embedded-mail.ts";
import type { EmbeddedStore } from "./embedded-store.ts";
import {
  addProblem,
  count,
  createReport,
  findParent,
  type ImportReport,
  listFilesBelow,
  readBounded,
} from "./import-source.ts";
import { type FiledMail, readFiledMail, readMbox } from "./mbox.ts";
import { CHANNEL_FILES, importSlack } from "./slack-export.ts";

const KINDS = ".eml, .mbox, .ics and .vcf files, and folders with a Slack export";
const OWNER_FILE = "owner.json";
const ADDRESS = /^[^\s@<>,;:"()\p{Cc}]{1,64}@[^\s@<>,;:"()\p{Cc}]{1,255}$/u;

/** Where an import comes from and what is told of it. */
type ImportSource = {
  readonly database: EmbeddedDatabase;
  /** Relative to what is imported. */
  readonly file: string;
  readonly report: ImportReport;
};

const FOLDER_FILE = /^(inbox|sent|drafts)(\.\d+)?\.mbox$/i;

/** Says in an export whose calendar it is. */
export const OWNER_PROPERTY = "X-RETINUE-OWNER";

const MAX_CARD_CHARS = 4_000_000;

/** Imports one .eml, .mbox, .ics or .vcf file. What is wrong is in the report; nothing is imported twice. */
export async function importFile(store: EmbeddedStore, path: string): Promise<ImportReport> {
  const report = createReport();
  const full = resolve(path);
  await importOne(store, dirname(full), basename(full), report);
  return report;
}

/** Imports everything below a folder, its `owner.json` first. Links are not followed; one bad file hides no other. */
export async function importFolder(store: EmbeddedStore, dir: string): Promise<ImportReport> {
  const report = createReport();
  const root = resolve(dir);
  try {
    const { files, isCut } = await listFilesBelow(root);
    if (isCut) addProblem(report, dir, `only the first ${files.length} files were read`);
    if (files.includes(OWNER_FILE)) await importOwner(store, root, report);
    const exports = findSlackFolders(files);
    for (const folder of exports)
      await importSlack({ database: store.database(), root, folder, files, report });
    const rest = files.filter((file) => !exports.some((folder) => isInExport(file, folder)));
    for (const file of rest) if (isKnownKind(file)) await importOne(store, root, file, report);
  } catch (thrown) {
    addProblem(report, dir, thrown);
  }
  return report;
}

async function importOne(
  store: EmbeddedStore,
  root: string,
  file: string,
  report: ImportReport,
): Promise<void> {
  try {
    if (!isKnownKind(file)) throw new TypeError(`only ${KINDS} can be imported`);
    const content = await readBounded(root, file);
    const source = { database: store.database(), file, report };
    const kind = extname(file).toLowerCase();
    if (kind === ".eml") await importMail(source, readFiledMail(content));
    else if (kind === ".mbox") for (const mail of readMbox(content)) await importMail(source, mail);
    else if (kind === ".ics") await importCalendar(source, content.toString("utf8"));
    else await importCards(source, content.toString("utf8"));
  } catch (thrown) {
    addProblem(report, file, thrown);
  }
}

async function importOwner(store: EmbeddedStore, root: string, report: ImportReport): Promise<void> {
  try {
    const owner = readOwner(JSON.parse((await readBounded(root, OWNER_FILE, 64 * 1024)).toString("utf8")));
    store.database().adoptOwner(owner);
  } catch (thrown) {
    addProblem(report, OWNER_FILE, thrown);
  }
}

function readOwner(value: unknown): StoreOwner {
  const { name, address, zone } = recordIn(value);
  if (typeof address !== "string" || !ADDRESS.test(address))
    throw new TypeError("address is not a mail address");
  if (zone !== undefined && (typeof zone !== "string" || !isZone(zone)))
    throw new TypeError("zone is not the name of a time zone");
  const shown = oneLine(textIn(name) ?? "").slice(0, 200);
  return { name: shown || address, address, ...(zone === undefined ? {} : { zone }) };
}

function findSlackFolders(files: readonly string[]): string[] {
  const names = CHANNEL_FILES.map(({ file }) => file);
  return [...new Set(files.filter((file) => names.includes(basename(file))).map(findParent))];
}

/** Whether a file belongs to an export; one at the root itself takes only its JSON files. */
function isInExport(file: string, folder: string): boolean {
  return folder === "" ? file.endsWith(".json") : file.startsWith(`${folder}/`);
}

function isKnownKind(file: string): boolean {
  return [".eml", ".mbox", ".ics", ".vcf"].includes(extname(file).toLowerCase());
}

/** Imports one message into the folder its file is named after, else by its author. */
export async function importMail({ database, file, report }: ImportSource, mail: FiledMail): Promise<void> {
  try {
    const read = await readMail(mail.bytes);
    if (read.from.address === "" && read.subject === "" && read.text === "" && read.attachments.length === 0)
      throw new TypeError("there is no message in it");
    const isOwn = read.from.address.toLowerCase() === database.owner().address.toLowerCase();
    const folder = readFolderName(file) ?? (read.isDraft ? "drafts" : isOwn ? "sent" : "inbox");
    const { isNew, id } = putMail(database, {
      folder,
      read,
      bytes: mail.bytes,
      unread: folder === "inbox" && !mail.isRead,
      dateMs: mail.envelopeMs ?? Math.floor(database.now() / 1000) * 1000,
    });
    if (!isNew && !isKept(database, id, mail.bytes))
      throw new TypeError(
        `another message with the Message-ID ${read.messageId.slice(0, 200)} is there already; this one was left out`,
      );
    count(report, "mails", isNew);
  } catch (thrown) {
    addProblem(report, file, thrown);
  }
}

/** Two different messages may claim one Message-ID. */
function isKept(database: EmbeddedDatabase, id: string, bytes: Uint8Array): boolean {
  const { bytes: kept } = loadMailRow(database, id);
  return kept instanceof Uint8Array && Buffer.compare(kept, bytes) === 0;
}

function readFolderName(file: string): MailFolder | undefined {
  const name = FOLDER_FILE.exec(basename(file))?.[1]?.toLowerCase();
  return name === "inbox" || name === "sent" || name === "drafts" ? name : undefined;
}

/** Imports the events of iCalendar text. A file that is named after an address, or says whose it is, is that person's. */
export async function importCalendar(source: ImportSource, text: string): Promise<void> {
  const { database, file, report } = source;
  const { series, problems } = await parseCalendar(text);
  for (const problem of problems) addProblem(report, file, problem);
  const { address, zone } = database.owner();
  const owner = readCalendarOwner(text) ?? readFileOwner(file) ?? address.toLowerCase();
  const calendar = owner === address.toLowerCase() ? OWN_CALENDAR : owner;
  for (const each of series) {
    try {
      const row = await buildEventRow(each, zone);
      const isNew = addEvent(database, calendar, row);
      const known = isNew ? null : await findSeries(database, each.uid, calendar);
      const isNewer = known !== null && readSequence(each.master) > readSequence(known.series.master);
      count(report, "events", isNew || (isNewer && replaceEvent(database, row, known.etag, calendar)));
    } catch (thrown) {
      addProblem(report, file, thrown);
    }
  }
}

function readCalendarOwner(text: string): string | undefined {
  const [, said] =
    new RegExp(`^${OWNER_PROPERTY}:(?:mailto:)?([^\\s@]{1,64}@[^\\s@]{1,255})\\s*$`, "im").exec(text) ?? [];
  return said?.toLowerCase();
}

function readFileOwner(file: string): string | undefined {
  return /^([^\s@]{1,64}@[^\s@]+\.[^\s@]+)\.ics$/i.exec(basename(file))?.[1]?.toLowerCase();
}

/** Imports the cards of vCard text, each kept with its own text, so that no unknown field of it is lost. */
export async function importCards({ database, file, report }: ImportSource, text: string): Promise<void> {
  const blocks = splitBlocks(text.replace(/^\uFEFF/, ""), ["VCARD"]).map((block) => `${block}\r\n`);
  if (blocks.length === 0) addProblem(report, file, "there is no card in it");
  for (const block of blocks) {
    try {
      if (block.length > MAX_CARD_CHARS) throw new RangeError("a card is larger than 4 MB");
      const { cards, problems } = await parseCards(block);
      for (const problem of problems) addProblem(report, file, problem);
      for (const card of cards.slice(0, 1)) count(report, "contacts", putContact(database, card, block));
    } catch (thrown) {
      addProblem(report, file, thrown);
    }
  }
}
