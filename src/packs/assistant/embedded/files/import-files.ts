import { basename, dirname, extname, resolve } from "node:path";
import { isZone } from "../../../../text/zone.ts";
import type { Owner } from "../embedded-database.ts";
import type { EmbeddedStore } from "../open-embedded.ts";
import { importCalendar } from "./import-calendar.ts";
import { importCards } from "./import-cards.ts";
import { importMail } from "./import-mail.ts";
import { addProblem, createReport, type ImportReport } from "./import-report.ts";
import { CHANNEL_FILES, importSlack } from "./import-slack.ts";
import { readFiledMail, readMbox } from "./mbox.ts";
import { filesBelow, folderOf, readBounded } from "./read-bounded.ts";
import { isFields } from "./read-slack-export.ts";

export type { Counts, ImportReport } from "./import-report.ts";

const KINDS = ".eml, .mbox, .ics and .vcf files, and folders with a Slack export";
const OWNER_FILE = "owner.json";
const ADDRESS = /^[^\s@<>,;:"()\p{Cc}]{1,64}@[^\s@<>,;:"()\p{Cc}]{1,255}$/u;

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
    const { files, isCut } = await filesBelow(root);
    if (isCut) addProblem(report, dir, `only the first ${files.length} files were read`);
    if (files.includes(OWNER_FILE)) await importOwner(store, root, report);
    const exports = slackFolders(files);
    for (const folder of exports)
      await importSlack({ database: store.database(), root, folder, files, report });
    const rest = files.filter((file) => !exports.some((folder) => isBelow(file, folder)));
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
    const owner = ownerIn(JSON.parse((await readBounded(root, OWNER_FILE, 64 * 1024)).toString("utf8")));
    store.database().adoptOwner(owner);
  } catch (thrown) {
    addProblem(report, OWNER_FILE, thrown);
  }
}

function ownerIn(value: unknown): Owner {
  const { name, address, zone } = isFields(value) ? value : {};
  if (typeof address !== "string" || !ADDRESS.test(address))
    throw new TypeError("address is not a mail address");
  if (zone !== undefined && (typeof zone !== "string" || !isZone(zone)))
    throw new TypeError("zone is not the name of a time zone");
  const shown =
    typeof name === "string"
      ? name
          .replaceAll(/\p{Cc}+/gu, " ")
          .trim()
          .slice(0, 200)
      : "";
  return { name: shown || address, address, ...(zone === undefined ? {} : { zone }) };
}

function slackFolders(files: readonly string[]): string[] {
  const names = CHANNEL_FILES.map(({ file }) => file);
  return [...new Set(files.filter((file) => names.includes(basename(file))).map(folderOf))];
}

/** Whether a file belongs to an export; one at the root itself takes only its JSON files. */
function isBelow(file: string, folder: string): boolean {
  return folder === "" ? file.endsWith(".json") : file.startsWith(`${folder}/`);
}

function isKnownKind(file: string): boolean {
  return [".eml", ".mbox", ".ics", ".vcf"].includes(extname(file).toLowerCase());
}
