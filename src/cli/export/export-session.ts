import { statSync } from "node:fs";
import { extname, join, relative, resolve, sep } from "node:path";
import { exportLines, loadExport } from "../../runtime/trace/load-export.ts";
import { loadTrace } from "../../runtime/trace/load-trace.ts";
import { RetinueError } from "../../schema/error.ts";
import type { SessionRow } from "../../schema/record.ts";
import type { Store } from "../../store/create-store.ts";
import { countOf } from "../measures.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { findSession, noSessions } from "../trace/find-session.ts";
import { withRecord } from "../trace/open-record.ts";
import { copyFiles } from "./copy-files.ts";
import { makePrivateFolder, saveText } from "./save-text.ts";

/** In what form a session is exported. */
export type ExportFormat = "md" | "json" | "jsonl" | "html";

/** Options of `retinue export`. */
export type ExportOptions = CommonOptions & { format?: ExportFormat; output?: string; files?: boolean };

/** What each form is called in a folder. */
const NAMES: Readonly<Record<ExportFormat, string>> = {
  md: "transcript.md",
  json: "session.json",
  jsonl: "rows.jsonl",
  html: "trace.html",
};
const MAX_NAMED = 10;

/** `retinue export`: everything the record holds of a session. */
export async function exportSession(id: string, options: ExportOptions, terminal: Terminal): Promise<void> {
  const place = placeOf(options, terminal);
  const session = await withRecord(terminal, async (store) => {
    const found = findSession(store, id, options, terminal);
    if (place.kind === "text") {
      await saveText(await sessionText(store, found, place.format), options.output, terminal);
      return found;
    }
    await makePrivateFolder(place.folder);
    for (const format of place.formats)
      await saveText(await sessionText(store, found, format), join(place.folder, NAMES[format]), terminal);
    return found;
  });
  if (!session) throw noSessions(id);
  if (place.kind === "folder" && options.files) await copyWorkspace(session, place.folder, terminal);
}

type Place =
  | { kind: "text"; format: ExportFormat }
  | { kind: "folder"; folder: string; formats: readonly ExportFormat[] };

/** A folder if it is one, ends like one, or has to hold files; otherwise one text, whose form its name may tell. */
function placeOf({ format, output, files, json }: ExportOptions, terminal: Terminal): Place {
  const wanted = format ?? (json ? "json" : undefined);
  if (output === "") throw new RetinueError("usage", "-o needs a name", "such as: -o session.html");
  if (output === undefined || output === "-") {
    if (files)
      throw new RetinueError("usage", "--files needs a folder to copy to", "name it with: -o FOLDER");
    return { kind: "text", format: wanted ?? "md" };
  }
  const path = resolve(terminal.cwd, output);
  const byName = formatOf(extname(output).slice(1));
  const isFolder = output.endsWith("/") || output.endsWith(sep) || files || (!wanted && !byName);
  if (isFolder || statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return { kind: "folder", folder: path, formats: wanted ? [wanted] : ["md", "json", "jsonl", "html"] };
  return { kind: "text", format: wanted ?? byName ?? "md" };
}

function formatOf(extension: string): ExportFormat | undefined {
  return Object.hasOwn(NAMES, extension) ? (extension as ExportFormat) : undefined;
}

/** A session in one of its forms. */
export async function sessionText(store: Store, session: SessionRow, format: ExportFormat): Promise<string> {
  switch (format) {
    case "json":
      return JSON.stringify(loadExport(store, session), null, 2);
    case "jsonl":
      return [...exportLines(loadExport(store, session))].join("\n");
    case "md": {
      const { transcriptOf } = await import("./transcript.ts");
      return transcriptOf(loadTrace(store, session));
    }
    case "html": {
      const { renderTracePage } = await import("../trace/html/render-page.ts");
      return renderTracePage(loadTrace(store, session), (prompt) => store.prompt(prompt));
    }
  }
}

/** The session's own folder, and those of its isolated runs. */
async function copyWorkspace({ workspace }: SessionRow, folder: string, terminal: Terminal): Promise<void> {
  for (const [from, name] of [
    [workspace, "workspace"],
    [`${workspace}-runs`, "workspace-runs"],
  ] as const) {
    if (!relative(from, folder).startsWith(".."))
      throw new RetinueError("input", `${folder} is inside the workspace`, "name another folder with -o");
    const { files, bytes, left } = await copyFiles(from, join(folder, name));
    if (files > 0)
      terminal.tell(`copied ${countOf(files, "file")} (${countOf(bytes, "byte")}) to ${join(folder, name)}`);
    for (const note of left.slice(0, MAX_NAMED))
      terminal.tell(`warning: not copied: ${plainLine(note, 200)}`);
    if (left.length > MAX_NAMED) terminal.tell(`warning: ${left.length - MAX_NAMED} more were not copied`);
  }
}
