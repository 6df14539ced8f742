import type { OutgoingMail } from "../mail/mail-provider.ts";
import { writeMail } from "../rfc822/write-mail.ts";

/** Names a message even if the service gave it another Message-ID, which Gmail does with one it does not like. */
export const ORIGINAL_ID_HEADER = "X-Retinue-Message-ID";

/** A message as it goes over the wire, in base64url; Gmail reads the Bcc from its header and takes it out. */
export async function composeRaw(mail: OutgoingMail, from: string): Promise<string> {
  const bytes = await writeMail(mail, { copy: "own", from: { address: from }, date: new Date() });
  const first = Buffer.from(`${ORIGINAL_ID_HEADER}: ${mail.messageId}\r\n`);
  return Buffer.concat([first, bytes]).toString("base64url");
}
