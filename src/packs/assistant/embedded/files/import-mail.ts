import { basename } from "node:path";
import { readMail } from "../../rfc822/read-mail.ts";
import type { EmbeddedDatabase } from "../embedded-database.ts";
import { type MailFolder, mailRow, putMail } from "../mail-rows.ts";
import { addProblem, count, type ImportReport } from "./import-report.ts";
import type { FiledMail } from "./mbox.ts";

/** Where an import comes from and what is told of it. */
export type ImportSource = {
  readonly database: EmbeddedDatabase;
  /** Relative to what is imported. */
  readonly file: string;
  readonly report: ImportReport;
};

const FOLDER_FILE = /^(inbox|sent|drafts)(\.\d+)?\.mbox$/i;

/** Imports one message; into the folder its file is named after, else by who wrote it. */
export async function importMail({ database, file, report }: ImportSource, mail: FiledMail): Promise<void> {
  try {
    const read = await readMail(mail.bytes);
    if (read.from.address === "" && read.subject === "" && read.text === "" && read.attachments.length === 0)
      throw new TypeError("there is no message in it");
    const isOwn = read.from.address.toLowerCase() === database.owner().address.toLowerCase();
    const folder = namedFolder(file) ?? (read.isDraft ? "drafts" : isOwn ? "sent" : "inbox");
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
  const { bytes: kept } = mailRow(database, id);
  return kept instanceof Uint8Array && Buffer.compare(kept, bytes) === 0;
}

function namedFolder(file: string): MailFolder | undefined {
  const name = FOLDER_FILE.exec(basename(file))?.[1]?.toLowerCase();
  return name === "inbox" || name === "sent" || name === "drafts" ? name : undefined;
}
