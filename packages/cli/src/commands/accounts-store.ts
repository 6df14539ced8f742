import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { hasAnyAccount, loadAccounts } from "@retinue/assistant/accounts/accounts";
import type { EmbeddedStore } from "@retinue/assistant/embedded/embedded-store";
import type { Counts, ImportReport } from "@retinue/assistant/embedded/import-source";
import { chooseLocalStore, findZone, openLocalStore } from "@retinue/assistant/local-store";
import { ToolFault } from "@retinue/assistant/service-tools/tool-fault";
import { RetinueError } from "@retinue/core/schema/error";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { EXIT } from "../exit-code.ts";
import { openSoundProject } from "../open-project.ts";
import { findAccountPlaces } from "../save-account.ts";
import { type Cli, printResult } from "../terminal.ts";

/** Declares `retinue accounts import` and `export`. */
export function registerStore(accounts: CliCommand): void {
  accounts
    .command("import")
    .description("take .eml, .mbox, .ics and .vcf files and Slack exports into the local store")
    .argument("<paths...>", "files and folders")
    .examples("retinue accounts import mail.mbox calendar.ics")
    .performs(importIntoStore);
  accounts
    .command("export")
    .description("write the local store as files into a new or empty folder")
    .argument("<dir>", "the folder")
    .examples("retinue accounts export ./backup")
    .performs(exportStore);
}

const SHOWN_PROBLEMS = 20;

/** `retinue accounts import`: files and folders into the store that a run here would use. */
async function importIntoStore(paths: readonly string[], cli: Cli): Promise<number> {
  const sources = await Promise.all(paths.map((path) => findSource(resolve(cli.cwd, path))));
  return withStore(cli, async (store, file) => {
    const { importFile, importFolder } = await import("@retinue/assistant/embedded/import-files");
    const total: ImportReport = { counts: { ...NOTHING }, skipped: 0, problems: [] };
    for (const [at, { path, isFolder }] of sources.entries()) {
      cli.tell(`importing ${at + 1} of ${sources.length}: ${cutToLine(path, 200)}`);
      addTo(total, await (isFolder ? importFolder(store, path) : importFile(store, path)));
    }
    const { counts, skipped, problems } = total;
    for (const { file: bad, message } of problems.slice(0, SHOWN_PROBLEMS))
      cli.tell(`warning: ${cutToLine(bad, 200)}: ${cutToLine(message, 300)}`);
    if (problems.length > SHOWN_PROBLEMS) cli.tell(`warning: … and ${problems.length - SHOWN_PROBLEMS} more`);
    printResult(cli, {
      value: { store: file, ...total },
      text: () => [
        `imported ${inWords(counts)}; ${skipped} were there already; ${problems.length} could not be read`,
        `the store is ${file}`,
      ],
    });
    const isUseless =
      problems.length > 0 && skipped === 0 && Object.values(counts).every((count) => count === 0);
    return isUseless ? EXIT.input : EXIT.ok;
  });
}

/** `retinue accounts export`: the store that a run here would use, as files that only the person can read. */
async function exportStore(dir: string, cli: Cli): Promise<void> {
  const target = resolve(cli.cwd, dir);
  await withStore(cli, async (store, file) => {
    const { exportTo } = await import("@retinue/assistant/embedded/export-files");
    cli.tell(`exporting ${file} …`);
    const { counts, files } = await exportTo(store, target);
    printResult(cli, {
      value: { folder: target, counts, files },
      text: () => `exported ${inWords(counts)} to ${files.length} files in ${target}`,
    });
  });
}

const NOTHING: Counts = { mails: 0, events: 0, contacts: 0, channels: 0, messages: 0 };

function addTo(total: ImportReport, { counts, skipped, problems }: ImportReport): void {
  for (const kind of Object.keys(NOTHING) as (keyof Counts)[]) total.counts[kind] += counts[kind];
  total.skipped += skipped;
  total.problems.push(...problems);
}

function inWords(counts: Counts): string {
  return Object.entries(counts)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(", ");
}

async function findSource(path: string): Promise<{ path: string; isFolder: boolean }> {
  const stats = await stat(path).catch(() => null);
  if (!stats) throw new RetinueError("input", `${path} is not there`, "name files or folders that exist");
  return { path, isFolder: stats.isDirectory() };
}

async function withStore<Value>(
  cli: Cli,
  work: (store: EmbeddedStore, file: string) => Promise<Value>,
): Promise<Value> {
  const { settings } = await openSoundProject(cli);
  const places = findAccountPlaces(cli);
  const wanted = settings.assistant ?? {};
  const kept = await loadAccounts(places.configDir);
  try {
    const where = chooseLocalStore(wanted, places, { hasAny: hasAnyAccount(wanted, kept) });
    const store = await openLocalStore(where, { zone: findZone(wanted, places), now: Date.now });
    try {
      return await work(store, where.file);
    } finally {
      for (const notice of store.database().notices) cli.tell(`warning: ${notice}`);
      store.close();
    }
  } catch (thrown) {
    if (thrown instanceof ToolFault) throw new RetinueError("config", thrown.message);
    throw thrown;
  }
}
