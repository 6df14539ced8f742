import { existsSync, statSync } from "node:fs";
import { rmdir } from "node:fs/promises";
import { extname, join, relative, resolve, sep } from "node:path";
import type { Record } from "@retinue/core/record/record";
import { RetinueError } from "@retinue/core/schema/error";
import type { SessionRow } from "@retinue/core/schema/record";
import { showCount } from "@retinue/core/show/measures";
import { exportLines, loadExport } from "@retinue/core/trace/load-export";
import { loadTrace } from "@retinue/core/trace/load-trace";
import { writeTranscript } from "@retinue/core/trace/write-transcript";
import type { CliCommand } from "../cli-command.ts";
import { copyFolder } from "../copy-folder.ts";
import { withSession } from "../open-record.ts";
import { SESSION_ID } from "../options.ts";
import type { Cli, Terminal } from "../terminal.ts";
import { makePrivateFolder, saveText } from "../write-files.ts";

/** Declares `retinue export`. */
export default function registerExport(command: CliCommand): void {
  command
    .description("write out everything of a session; secrets are hidden already")
    .argument("<id>", SESSION_ID)
    .oneOf(
      "--format <format>",
      "md to read, json or jsonl for programs; by the name of -o, md otherwise, all in a folder",
      FORMATS,
    )
    .option("-o, --output <file|dir>", "write there, for you alone, and not to stdout")
    .option("--files", "also copy the files of the session's workspace; -o names the folder")
    .examples(
      "retinue export last                        a transcript to read, as Markdown",
      "retinue export ses_1a2b -o backup/ --files everything in a folder, with the files that agents left",
      "retinue export last --format jsonl | wc -l every row of the record, a line each",
    )
    .performs(exportSession);
}

/** The forms in which a session is exported. */
const FORMATS = ["md", "json", "jsonl"] as const;
type ExportFormat = (typeof FORMATS)[number];

type ExportOptions = { format?: ExportFormat; output?: string; files?: boolean };

/** What each form is called in a folder. */
const NAMES: { readonly [Format in ExportFormat]: string } = {
  md: "transcript.md",
  json: "session.json",
  jsonl: "rows.jsonl",
};

/** `retinue export`: everything the record holds of a session. */
export async function exportSession(id: string, cli: Cli<ExportOptions>): Promise<void> {
  const place = choosePlace(cli);
  const session = await withSession(id, cli, async (record, found) => {
    if (place.kind === "text") {
      await saveText(await renderSession(record, found, place.format), cli.options.output, cli);
      return found;
    }
    await makePrivateFolder(place.folder);
    for (const format of place.formats)
      await saveText(await renderSession(record, found, format), join(place.folder, NAMES[format]), cli);
    return found;
  });
  if (place.kind === "folder" && cli.options.files) await copyWorkspace(session, place.folder, cli);
}

type Place =
  | { kind: "text"; format: ExportFormat }
  | { kind: "folder"; folder: string; formats: readonly ExportFormat[] };

/** A folder if it is one, ends like one, or has to hold files; otherwise one text, whose form its name may tell. */
function choosePlace(cli: Cli<ExportOptions>): Place {
  const { format, output, files, json } = cli.options;
  const wanted = format ?? (json ? "json" : undefined);
  if (output === "") throw new RetinueError("usage", "-o needs a name", "such as: -o session.md");
  if (output === undefined || output === "-") {
    if (files)
      throw new RetinueError("usage", "--files needs a folder to copy to", "name it with: -o FOLDER");
    return { kind: "text", format: wanted ?? "md" };
  }
  const path = resolve(cli.cwd, output);
  const extension = extname(output);
  const byName = FORMATS.find((each) => extension === `.${each}`);
  if (extension === ".html" && !wanted)
    throw new RetinueError(
      "usage",
      "a session is not exported as a web page",
      "look at it with: retinue serve",
    );
  const isFolder = output.endsWith("/") || output.endsWith(sep) || files || (!wanted && !byName);
  if (isFolder || statSync(path, { throwIfNoEntry: false })?.isDirectory())
    return { kind: "folder", folder: path, formats: wanted ? [wanted] : FORMATS };
  return { kind: "text", format: wanted ?? byName ?? "md" };
}

async function renderSession(record: Record, session: SessionRow, format: ExportFormat): Promise<string> {
  if (format === "md") return writeTranscript(await loadTrace(record, session));
  const all = await loadExport(record, session);
  return format === "json" ? JSON.stringify(all, null, 2) : [...exportLines(all)].join("\n");
}

/** The session's own folder, and those of its isolated runs. */
async function copyWorkspace({ workspace }: SessionRow, folder: string, terminal: Terminal): Promise<void> {
  for (const [from, name] of [
    [workspace, "workspace"],
    [`${workspace}-runs`, "workspace-runs"],
  ] as const) {
    if (!relative(from, folder).startsWith(".."))
      throw new RetinueError("input", `${folder} is inside the workspace`, "name another folder with -o");
    if (!existsSync(from)) continue;
    await makePrivateFolder(join(folder, name));
    const copied = await copyFolder(from, join(folder, name), { terminal, mode: 0o600 });
    if (copied.length > 0)
      terminal.tell(`copied ${showCount(copied.length, "file")} to ${join(folder, name)}`);
    else await rmdir(join(folder, name)).catch(() => {});
  }
}
