import { loadTrace } from "../../runtime/trace/load-trace.ts";
import type { SessionRow } from "../../schema/record.ts";
import { defineRoute, NotFound, type Route } from "../api/route.ts";
import { oneOf, shape } from "../api/shapes.ts";
import type { Desk } from "../desk.ts";
import { ownSession } from "../own-project.ts";

type Format = "md" | "json" | "html";

const TYPES: Readonly<Record<Format, string>> = {
  md: "text/markdown; charset=utf-8",
  json: "application/json; charset=utf-8",
  html: "text/html; charset=utf-8",
};

/** Sessions as documents to keep. */
export const exportRoutes: readonly Route[] = [
  defineRoute<{ format: Format }>({
    method: "get",
    path: "/api/sessions/:id/export",
    summary: "A session as a file to save: a transcript, the whole trace, or one page that draws it.",
    query: shape({ format: oneOf("md", "json", "html") }),
    answers: "application/octet-stream",
    async handle({ params: { id = "" }, query: { format } }, desk) {
      const text = await textOf(desk, ownSession(desk, id), format);
      return new Response(text, {
        headers: {
          "Content-Type": TYPES[format],
          "Content-Disposition": `attachment; filename="${id}.${format}"`,
        },
      });
    },
  }),
];

async function textOf(desk: Desk, session: SessionRow, format: Format): Promise<string> {
  const { store } = desk.runtime;
  if (format === "json") return JSON.stringify(loadTrace(store, session), null, 2);
  if (desk.renderSession) return desk.renderSession(store, session, format);
  throw new NotFound(`this server makes no ${format}`, "take json, or use: retinue export");
}
