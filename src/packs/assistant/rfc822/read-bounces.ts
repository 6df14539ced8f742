import type { Attachment, Email } from "postal-mime";
import { messageIdsIn } from "./header-text.ts";

/** A recipient whom a message did not reach, as a delivery report says. */
export type Bounce = { readonly messageId: string; readonly address: string; readonly detail: string };

const MAX_REPORT_BYTES = 256 * 1024;
const MAX_BOUNCES = 200;
const MAX_DETAIL_CHARS = 500;

/** What a delivery report (RFC 3464) says of the messages it is about; none for any other mail. */
export function readBounces(email: Email): Bounce[] {
  const failed = failedRecipients(email);
  if (failed.length === 0) return [];
  return originalIds(email)
    .flatMap((messageId) => failed.map((recipient) => ({ messageId, ...recipient })))
    .slice(0, MAX_BOUNCES);
}

function failedRecipients(email: Email): { address: string; detail: string }[] {
  const reports = email.attachments.filter(({ mimeType }) => mimeType === "message/delivery-status");
  const failed = reports.flatMap((report) => {
    const blocks = contentOf(report).split(/\n[ \t]*\n/);
    return blocks.flatMap((block) => {
      const fields = fieldsOf(block);
      if (fields.get("action")?.toLowerCase() !== "failed") return [];
      const address = addressIn(fields.get("final-recipient") ?? fields.get("original-recipient") ?? "");
      const words = afterSemicolon(fields.get("diagnostic-code") ?? "") || (fields.get("status") ?? "");
      return address ? [{ address, detail: words.slice(0, MAX_DETAIL_CHARS) }] : [];
    });
  });
  if (reports.length > 0) return failed;
  const named = email.headers.find(({ key }) => key === "x-failed-recipients")?.value ?? "";
  return named
    .split(",")
    .map((part) => ({ address: addressIn(part), detail: "" }))
    .filter(({ address }) => address);
}

/** Message-IDs of what could not be delivered: from the message that came back, else from what the report answers. */
function originalIds(email: Email): string[] {
  const returned = email.attachments
    .filter(({ mimeType }) => mimeType === "message/rfc822" || mimeType === "text/rfc822-headers")
    .flatMap((part) => {
      const [head = ""] = contentOf(part).split(/\n[ \t]*\n/, 1);
      return messageIdsIn(fieldsOf(head).get("message-id"));
    });
  if (returned.length > 0) return [...new Set(returned)];
  return [...new Set([...messageIdsIn(email.inReplyTo), ...messageIdsIn(email.references)])].slice(0, 5);
}

function contentOf({ content }: Attachment): string {
  const text =
    typeof content === "string"
      ? content.slice(0, MAX_REPORT_BYTES)
      : Buffer.from(new Uint8Array(content).subarray(0, MAX_REPORT_BYTES)).toString("utf8");
  return text.replaceAll(/\r\n?/g, "\n");
}

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of block.replaceAll(/\n[ \t]+/g, " ").split("\n")) {
    const at = line.indexOf(":");
    if (at > 0) fields.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim());
  }
  return fields;
}

function afterSemicolon(value: string): string {
  return value.slice(value.indexOf(";") + 1).trim();
}

function addressIn(value: string): string {
  return /[^\s<>;,"]{1,64}@[^\s<>;,"]{1,255}/.exec(afterSemicolon(value))?.[0].toLowerCase() ?? "";
}
