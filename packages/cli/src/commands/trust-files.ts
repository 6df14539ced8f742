import { lstat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fingerprintFile } from "@retinue/core/host/untrusted-files";
import type { Record } from "@retinue/core/record/record";
import type { UntrustedNote } from "@retinue/core/schema/change";
import { RetinueError } from "@retinue/core/schema/error";
import { showUtc } from "@retinue/core/show/measures";
import { cutToLine } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { findRealProject } from "../open-project.ts";
import { withRecord } from "../open-record.ts";
import { type Cli, printResult } from "../terminal.ts";

/** Declares `retinue trust-files`. */
export default function registerTrustFiles(command: CliCommand): void {
  command
    .description(
      "list the files that runs wrote while they held untrusted text, or say that you have looked at them, so that reading them taints no run any more",
    )
    .argument("[files...]", "files that you have looked at")
    .option("--all", "you have looked at everything on the list")
    .examples("retinue trust-files", "retinue trust-files notes.txt")
    .performs(trustFiles);
}

type TrustOptions = { all?: boolean };

const NONE = "nothing here was written by a run that held untrusted text";

/** `retinue trust-files`: lists what tainted runs wrote, or takes the mark off what a person has looked at. */
async function trustFiles(files: readonly string[], cli: Cli<TrustOptions>): Promise<void> {
  if (cli.options.all && files.length > 0)
    throw new RetinueError("usage", "'trust-files' takes files or --all, not both");
  const project = findRealProject(cli);
  const wasRecorded = await withRecord(cli, async (record) => {
    const notes = await record.listUntrusted({ project: project });
    if (files.length === 0 && !cli.options.all) await list(notes, cli);
    else await lift(record, cli.options.all ? notes : await choose(record, files, project), cli);
    return true;
  });
  if (!wasRecorded) printResult(cli, { value: [], text: () => NONE });
}

async function lift(record: Record, notes: readonly UntrustedNote[], cli: Cli<TrustOptions>): Promise<void> {
  const trusted = await record.trustNotes(notes.map(({ id }) => id));
  const text = () => (trusted === 1 ? "1 mark was taken off" : `${trusted} marks were taken off`);
  printResult(cli, { value: { trusted }, text });
}

async function list(notes: readonly UntrustedNote[], cli: Cli<TrustOptions>): Promise<void> {
  const shown: (UntrustedNote & { state: string })[] = [];
  for (const note of notes) shown.push({ ...note, state: await lookAt(note) });
  const text = () => (shown.length === 0 ? NONE : shown.map(describe));
  printResult(cli, { value: shown, text });
  if (cli.options.json || shown.length === 0) return;
  cli.tell(
    "A run that reads these is tainted. Look at them (retinue diff RUN), then: retinue trust-files FILE … or --all",
  );
}

/** Whether the content is still where it was written; of a name, whether anything has it there. */
async function lookAt(note: UntrustedNote): Promise<"there" | "changed" | "gone" | "name" | "span"> {
  const { root, path, hash, isName } = note;
  if (hash === null) return "span";
  const file = join(root, path);
  if (!(await lstat(file).catch(() => null))) return "gone";
  if (isName) return "name";
  return (await fingerprintFile(file))?.hash === hash ? "there" : "changed";
}

function describe(note: UntrustedNote & { state: string }): string {
  const { root, path, hash, sinceMs, untilMs, runId, notedAt, state } = note;
  const by = `${runId}  ${showUtc(notedAt)}`;
  if (hash !== null) return `${state.padEnd(8)}${cutToLine(join(root, path), 300)}  ${by}`;
  const when = (ms: number) => showUtc(ms, "second");
  const span = sinceMs
    ? ` that changed from ${when(sinceMs)}${untilMs ? ` to ${when(untilMs)}` : " on"}`
    : "";
  return `files   ${cutToLine(root, 300)}/**${span}  ${by}`;
}

/** The notes on these files: by where they were written, or by what they hold now. */
async function choose(record: Record, files: readonly string[], project: string): Promise<UntrustedNote[]> {
  const all = await record.listUntrusted();
  const chosen: UntrustedNote[] = [];
  for (const name of files) {
    const file = resolve(project, name);
    const print = await fingerprintFile(file);
    const found = all.filter(
      ({ root, path, hash }) => hash !== null && (join(root, path) === file || hash === print?.hash),
    );
    if (found.length === 0)
      throw new RetinueError(
        "input",
        `${name} is not on the list of untrusted files`,
        "see the list with: retinue trust-files; --all also takes off what stands for many files",
      );
    chosen.push(...found);
  }
  return chosen;
}
