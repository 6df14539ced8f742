import { showChanges } from "@retinue/core/changes/show";
import { showChangedFiles } from "@retinue/core/show/changed-files";
import { cutToLine, stripControls, writeJson } from "@retinue/core/text/plain-text";
import type { CliCommand } from "../cli-command.ts";
import { NAMED_CHANGES, withChanges } from "../open-record.ts";
import type { Cli } from "../terminal.ts";

/** Declares `retinue diff`. */
export default function registerDiff(command: CliCommand): void {
  command
    .description("show what a run and everything below it changed")
    .argument("<run>", NAMED_CHANGES)
    .option("--stat", "only the names of the files and how many lines changed")
    .examples("retinue diff last", "retinue diff run_4f2 --stat")
    .performs(showDiff);
}

type DiffOptions = { stat?: boolean };

async function showDiff(name: string, cli: Cli<DiffOptions>): Promise<void> {
  const { scope, folders, unkept, untrusted } = await withChanges(name, cli, async (kept, id) => {
    const shown = await showChanges(kept, id);
    const untrusted = new Set<string>();
    for (const { path, after } of shown.scope.changes)
      if (after && (await kept.record.isUntrusted({ hash: after.hash }))) untrusted.add(path);
    return { ...shown, untrusted: [...untrusted] };
  });
  if (cli.options.json) {
    const shown = folders.map(({ root, isProject, patches }) => ({
      root,
      project: isProject,
      files: patches.map(({ text, ...file }) => (cli.options.stat ? file : { ...file, patch: text })),
    }));
    return cli.print(writeJson({ id: scope.id, folders: shown, not_kept: unkept, untrusted }, 2));
  }
  for (const text of unkept) cli.tell(`warning: ${cutToLine(text, 300)}`);
  if (folders.length === 0) return cli.tell(`${scope.id} changed no files`);
  for (const { root, isProject, patches } of folders) {
    if (!isProject) cli.tell(`in the run's own copy ${cutToLine(root, 200)}:`);
    const lines = cli.options.stat ? showChangedFiles(patches) : patches.map((patch) => patch.text);
    cli.print(stripControls(lines.join("\n")));
  }
  if (untrusted.length === 0) return;
  const files = cutToLine(untrusted.join(" "), 2_000);
  cli.tell(`untrusted until you have looked; then: retinue trust-files ${files}`);
}
