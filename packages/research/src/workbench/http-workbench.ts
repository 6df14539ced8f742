import type { Readable } from "node:stream";
import { parseObject } from "@retinue/core/schema/json-object";
import {
  createEgress,
  type Egress,
  EgressError,
  type EgressFailure,
  type EgressReply,
} from "../egress/egress-guard.ts";
import { hashBytes } from "./part-file.ts";
import {
  type Chunk,
  type FileFacts,
  type RemoteFile,
  type Workbench,
  WorkbenchError,
  type WorkbenchFailure,
} from "./workbench.ts";

/** How an HTTP workbench is reached. */
type HttpWorkbenchOptions = {
  /** Address below which its paths begin. */
  url: string;
  /** Gives the bearer token; called for every exchange. */
  key?: () => string;
  /** The way out; by default one that lets through the address above and no private other. */
  egress?: Egress;
};

/** How long one exchange may take. */
const TIMEOUT_MS = 60_000;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** A workbench that is reached over HTTP, as docs/workbench.md describes. Redirects are not followed. */
export function createHttpWorkbench(options: HttpWorkbenchOptions): Workbench {
  const base = new URL(options.url);
  const egress = options.egress ?? createEgress({ allowOrigins: [base.origin], connections: 2 });
  const ask = createAsk(base, egress, options);
  const session = (file: RemoteFile) => `sessions/${encodeURIComponent(file.session)}`;
  return {
    name: `the workbench at ${base.host}`,
    hosts: [base.hostname],
    async stat(file, signal) {
      const query = new URLSearchParams({ path: file.path });
      const answer = await ask(`${session(file)}/file?${query}`, { signal, mayMiss: true });
      return answer && readFacts(answer);
    },
    async begin(file, facts, signal) {
      const body = { path: file.path, ...facts };
      const answer = await ask(`${session(file)}/uploads`, { signal, body });
      return {
        id: readField(answer, "upload"),
        file,
        facts,
        received: readCount(answer, "received", facts.size),
      };
    },
    async send({ id, file, facts }, { offset, bytes, sha256 }, signal) {
      const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
      const path = `${session(file)}/uploads/${encodeURIComponent(id)}/chunks`;
      const answer = await ask(path, { signal, body: { offset, sha256, data } });
      return readCount(answer, "received", facts.size);
    },
    async finish({ id, file }, signal) {
      const path = `${session(file)}/uploads/${encodeURIComponent(id)}/finish`;
      return readFacts(await ask(path, { signal, body: {} }));
    },
    async read(file, { offset, length, sha256 }, signal) {
      const about = { path: file.path, offset: String(offset), length: String(length), sha256 };
      const answer = await ask(`${session(file)}/chunk?${new URLSearchParams(about)}`, { signal });
      return readChunk(answer, offset, length);
    },
    close: () => egress.close(),
  };
}

type Answer = Readonly<Record<string, unknown>>;
type Question = { signal: AbortSignal; body?: object; mayMiss?: boolean };
type Ask = {
  (path: string, question: Question & { mayMiss: true }): Promise<Answer | null>;
  (path: string, question: Question): Promise<Answer>;
};

function createAsk(base: URL, egress: Egress, { key }: HttpWorkbenchOptions): Ask {
  const root = base.href.replace(/\/*$/, "/");
  const ask = async (path: string, question: Question): Promise<Answer | null> => {
    const { signal, body } = question;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const reply = await egress.request(`${root}${path}`, {
        method: body ? "POST" : "GET",
        headers: {
          accept: "application/json",
          "accept-encoding": "identity",
          ...(body && { "content-type": "application/json" }),
          ...(key && { authorization: `Bearer ${key()}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: limited,
      });
      return await readAnswer(reply, base.host, question.mayMiss === true);
    } catch (thrown) {
      if (signal.aborted || thrown instanceof WorkbenchError) throw thrown;
      throw describeUnreachable(thrown, base.host);
    }
  };
  return ask as Ask;
}

async function readAnswer(reply: EgressReply, host: string, mayMiss: boolean): Promise<Answer | null> {
  if (reply.status !== 200) {
    reply.body.destroy();
    if (reply.status === 404 && mayMiss) return null;
    throw new WorkbenchError(
      classifyStatus(reply.status),
      `${host} answered ${reply.status}${giveHint(reply.status)}`,
    );
  }
  const answer = parseObject(await readText(reply.body));
  if (answer) return answer;
  throw describeNonsense("not a JSON object");
}

/** The body as text, which is given up once it is longer than any answer. */
async function readText(body: Readable): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of body as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MAX_REPLY_BYTES) throw describeNonsense(`longer than ${MAX_REPLY_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString("utf8");
}

function classifyStatus(status: number): WorkbenchFailure {
  if (status === 404 || status === 410 || status === 422) return "lost";
  if (status === 409) return "changed";
  return status >= 500 || status === 408 || status === 429 ? "unreachable" : "refused";
}

function giveHint(status: number): string {
  if (status === 401 || status === 403)
    return "; its key is missing or wrong (workbench.keyEnv in the settings)";
  return status >= 300 && status < 400 ? "; redirects are not followed" : "";
}

const FINAL: ReadonlySet<EgressFailure> = new Set(["blocked", "bad_url", "tls", "too_large"]);

function describeUnreachable(thrown: unknown, host: string): WorkbenchError {
  const failed = thrown instanceof EgressError ? thrown : undefined;
  return new WorkbenchError(
    failed && FINAL.has(failed.failure) ? "refused" : "unreachable",
    failed?.message ?? `${host} gave no answer`,
    { cause: thrown },
  );
}

function describeNonsense(what: string): WorkbenchError {
  return new WorkbenchError("protocol", `the workbench gave an answer that makes no sense: ${what}`);
}

function readField(answer: Answer, key: string): string {
  const value = answer[key];
  if (typeof value === "string" && value !== "" && value.length <= 256) return value;
  throw describeNonsense(`no ${key}`);
}

function readCount(answer: Answer, key: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = answer[key];
  if (Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most) return Number(value);
  throw describeNonsense(`${key} is no number that can be`);
}

function readChecksum(answer: Answer): string {
  const value = readField(answer, "sha256");
  if (/^[0-9a-f]{64}$/.test(value)) return value;
  throw describeNonsense("sha256 is no checksum");
}

function readFacts(answer: Answer): FileFacts {
  return { size: readCount(answer, "size"), sha256: readChecksum(answer) };
}

function readChunk(answer: Answer, offset: number, length: number): Chunk {
  const { data } = answer;
  const bytes = typeof data === "string" ? Buffer.from(data, "base64") : null;
  if (!bytes || bytes.length > length || readCount(answer, "offset") !== offset)
    throw describeNonsense("not the chunk asked for");
  const sha256 = readChecksum(answer);
  if (hashBytes(bytes) !== sha256) throw new WorkbenchError("lost", "a chunk arrived damaged");
  return { offset, bytes, sha256 };
}
