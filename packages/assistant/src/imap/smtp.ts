// Hands messages to an SMTP server, and knows afterwards whether that happened.

import { Readable } from "node:stream";
import { messageOf } from "@retinue/core/schema/error";
import { isCertificateCode } from "../service-tools/service-requests.ts";
import { ToolFault } from "../service-tools/tool-fault.ts";
import { buildTls, chooseProtection, type ImapOptions } from "./imap-session.ts";

const CONNECT_MS = 20_000;
const ANSWER_MS = 120_000;

/** Whom a message goes to, and its bytes. */
type Envelope = {
  readonly from: string;
  readonly to: readonly string[];
  readonly bytes: Uint8Array;
};

/** The recipients whom the server refused, with its words; all others were accepted. */
export type Accepted = {
  readonly rejected: readonly { readonly address: string; readonly detail: string }[];
};

type SendInfo = { readonly rejectedErrors?: readonly SmtpError[] | undefined };

/** What is read of an error of the SMTP client. */
type SmtpError = {
  readonly code?: string | undefined;
  readonly response?: unknown;
  readonly responseCode?: number | undefined;
  readonly recipient?: unknown;
  readonly message?: string;
  readonly rejectedErrors?: readonly SmtpError[] | undefined;
};

/** A send with an unknown outcome: the connection was lost while the message was on its way. */
export class SendUnknown extends ToolFault {
  constructor(cause: unknown) {
    super(
      "tool_error",
      "it is not known whether the message was sent: the connection was lost before the server's answer",
      { cause },
    );
  }
}

/** Hands a message to the SMTP server. Raises `ToolFault`: `SendUnknown`, or one after which nothing was sent. */
export async function sendBySmtp(
  options: ImapOptions,
  envelope: Envelope,
  signal: AbortSignal,
): Promise<Accepted> {
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const connection = new SMTPConnection(buildConnectionOptions(options, ANSWER_MS));
  const stop = () => connection.close();
  signal.addEventListener("abort", stop, { once: true });
  let isUnderWay = false;
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => undefined);
  connection.on("error", lost.reject);
  connection.once("end", () =>
    lost.reject(new ToolFault("network", "the SMTP server closed the connection")),
  );
  const call = <Value>(work: (done: (error?: unknown, value?: Value) => void) => void) => {
    const answer = Promise.withResolvers<Value | undefined>();
    work((error, value) => (error ? answer.reject(error) : answer.resolve(value)));
    return Promise.race([answer.promise, lost.promise]);
  };
  try {
    if (signal.aborted) throw new ToolFault("network", "the call was stopped");
    await call((done) => connection.connect((error) => done(error)));
    await call((done) =>
      connection.login(
        { user: options.user, credentials: { user: options.user, pass: options.password } },
        (error) => done(error),
      ),
    );
    // The body is asked for only after the server has taken the envelope: from then on a lost connection means an unknown outcome.
    const body = Readable.from(
      (function* () {
        isUnderWay = true;
        yield Buffer.from(envelope.bytes);
      })(),
    );
    const info = await call<SendInfo>((done) =>
      connection.send({ from: envelope.from, to: [...envelope.to] }, body, (error, value) =>
        done(error, value ?? undefined),
      ),
    );
    return { rejected: listRejections(info?.rejectedErrors) };
  } catch (error) {
    throw toSmtpFault(error, isUnderWay);
  } finally {
    signal.removeEventListener("abort", stop);
    connection.quit();
    setTimeout(() => connection.close(), 2_000).unref();
  }
}

/** How the server is reached, and how long each step may take. */
function buildConnectionOptions(options: ImapOptions, answerMs: number) {
  const { secure, upgrade } = chooseProtection(options.smtp, options.tls);
  return {
    host: options.smtp.host,
    port: options.smtp.port,
    secure,
    ...(!secure && (upgrade === "required" ? { requireTLS: true } : { ignoreTLS: true })),
    tls: buildTls(options),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: answerMs,
  };
}

function listRejections(errors: readonly SmtpError[] | undefined): { address: string; detail: string }[] {
  return (errors ?? []).map((error) => ({
    address: String(error.recipient ?? ""),
    detail: readWords(error),
  }));
}

function readWords({ response, message }: SmtpError): string {
  return (typeof response === "string" ? response : (message ?? "")).slice(0, 500);
}

/** An error of the SMTP client as a fault; `isUnderWay` once the message itself was being sent. */
function toSmtpFault(error: unknown, isUnderWay: boolean): ToolFault {
  if (error instanceof ToolFault && !isUnderWay) return error;
  const known: SmtpError = typeof error === "object" && error !== null ? error : {};
  const { responseCode = 0, code = "" } = known;
  const cause = { cause: error };
  if (isUnderWay && responseCode === 0) return new SendUnknown(error);
  if (code === "ETLS" || isCertificateCode(code))
    return new ToolFault(
      "tool_error",
      `there is no trusted connection to the SMTP server: ${readWords(known)}`,
      cause,
    );
  const said = `the SMTP server said: ${readAllWords(known)}`;
  if (code === "EAUTH" && (responseCode === 0 || responseCode >= 500))
    return new ToolFault("auth", `the SMTP server refused the password; ${said}`, cause);
  if (responseCode >= 500) return new ToolFault("params", said, cause);
  if (responseCode >= 400) return new ToolFault("network", said, cause);
  return new ToolFault("network", `the connection to the SMTP server failed: ${readWords(known)}`, cause);
}

function readAllWords(error: SmtpError): string {
  const rejected = listRejections(error.rejectedErrors);
  if (rejected.length === 0) return readWords(error);
  return rejected
    .map(({ address, detail }) => `${address}: ${detail}`)
    .join("; ")
    .slice(0, 1_000);
}

/** Signs in to the server that mail is sent by, and sends nothing. */
export async function checkSmtp(options: ImapOptions): Promise<void> {
  const { smtp, user, password } = options;
  const { createTransport } = await import("nodemailer");
  const auth = { user, pass: password };
  const transport = createTransport({ ...buildConnectionOptions(options, CONNECT_MS), auth });
  try {
    await transport.verify();
  } catch (thrown) {
    const isRefused = thrown instanceof Error && "code" in thrown && thrown.code === "EAUTH";
    throw new ToolFault(isRefused ? "auth" : "network", `${smtp.host}:${smtp.port}: ${messageOf(thrown)}`);
  } finally {
    transport.close();
  }
}
