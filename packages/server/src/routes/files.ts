import type { FileHandle } from "node:fs/promises";
import { join, sep } from "node:path";
import { openForReading } from "@retinue/core/files/open-inside";
import { filledText, oneOf, shape } from "@retinue/core/schema/shape";
import { loadTrace } from "@retinue/core/trace/load-trace";
import { writeTranscript } from "@retinue/core/trace/write-transcript";
import { getMimeType } from "hono/utils/mime";
import { ownSession } from "../desk.ts";
import { BadRequest, NotFound } from "../http/http-errors.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";

/** Kinds that a browser may show as text; a drawing in SVG is a document that could run things. */
const TEXT = /\.(?:md|txt|log|jsonl?|csv|diff|patch|svg)$/i;
/** Kinds that a browser may show as they are; everything else is only saved. */
const SHOWN = /\.(?:html?|png|jpe?g|gif|webp)$/i;
/** A document of no origin that can run and load nothing. */
const POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";
const MOST_BYTES = 50_000_000;

type Format = "md" | "json";

const EXPORT_TYPES: Readonly<Record<Format, string>> = {
  md: "text/markdown; charset=utf-8",
  json: "application/json; charset=utf-8",
};

/** Files that runs left in the workspace of a session, and sessions as documents to keep. */
export const fileRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/sessions/:id/files",
    summary: "A file that a run left in the session's workspace, shown so that nothing in it can run.",
    query: shape({ path: filledText(1_000) }),
    answers: "application/octet-stream",
    async handle({ params: { id }, query: { path } }, desk) {
      const { workspace } = await ownSession(desk, id);
      return answerFile(await readFile(workspace, path), path);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/sessions/:id/export",
    summary: "A session as a file to save: a transcript, or the whole trace.",
    query: shape({ format: oneOf("md", "json") }),
    answers: "application/octet-stream",
    async handle({ params: { id }, query: { format } }, desk) {
      const trace = await loadTrace(desk.runtime.record, await ownSession(desk, id));
      const text = format === "json" ? JSON.stringify(trace, null, 2) : writeTranscript(trace);
      return new Response(text, {
        headers: {
          "Content-Type": EXPORT_TYPES[format],
          "Content-Disposition": `attachment; filename="${id}.${format}"`,
        },
      });
    },
  }),
];

async function readFile(workspace: string, path: string): Promise<Buffer> {
  const handle = await openInWorkspace(workspace, path);
  try {
    const { size } = await handle.stat();
    if (size > MOST_BYTES) throw new BadRequest(413, `the file has ${size} bytes, more than are shown here`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

/** A file that cannot be opened counts as absent, whatever the reason: the reason would tell what is outside. */
async function openInWorkspace(workspace: string, path: string): Promise<FileHandle> {
  const parts = path.split("/");
  const isOdd =
    /[\p{Cc}\\]/u.test(path) || parts.some((part) => part === "" || part === "." || part === "..");
  try {
    if (!isOdd) return await openForReading(workspace, join(workspace, parts.join(sep)));
  } catch {
    // Links, folders and what is not there are refused alike.
  }
  throw new NotFound(`there is no file '${path}' in the session's workspace`);
}

function answerFile(content: Buffer, path: string): Response {
  const type = TEXT.test(path)
    ? "text/plain; charset=utf-8"
    : SHOWN.test(path)
      ? getMimeType(path)
      : undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return new Response(new Uint8Array(content), {
    headers: {
      "Content-Type": type ?? "application/octet-stream",
      "Content-Security-Policy": POLICY,
      "X-Content-Type-Options": "nosniff",
      "Content-Disposition": `${type ? "inline" : "attachment"}; filename*=UTF-8''${encodeURIComponent(name.toWellFormed())}`,
    },
  });
}
