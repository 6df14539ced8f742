import { messageOf } from "../../../schema/error.ts";
import { ToolFault } from "../errors/tool-fault.ts";
import { type ImapOptions, protectionOf, tlsOf } from "../imap/imap-options.ts";

const PATIENCE_MS = 20_000;

/** Signs in to the server that mail is sent by, and sends nothing. */
export async function checkSmtp(options: ImapOptions): Promise<void> {
  const { smtp, tls, user, password } = options;
  const { createTransport } = await import("nodemailer");
  const { secure, upgrade } = protectionOf(smtp, tls);
  const transport = createTransport({
    host: smtp.host,
    port: smtp.port,
    secure,
    ...(!secure && (upgrade === "required" ? { requireTLS: true } : { ignoreTLS: true })),
    tls: tlsOf(options),
    auth: { user, pass: password },
    connectionTimeout: PATIENCE_MS,
    greetingTimeout: PATIENCE_MS,
    socketTimeout: PATIENCE_MS,
  });
  try {
    await transport.verify();
  } catch (thrown) {
    const isRefused = thrown instanceof Error && "code" in thrown && thrown.code === "EAUTH";
    throw new ToolFault(isRefused ? "auth" : "network", `${smtp.host}:${smtp.port}: ${messageOf(thrown)}`);
  } finally {
    transport.close();
  }
}
