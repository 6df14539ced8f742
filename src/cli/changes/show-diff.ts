import { patchStat } from "../../runtime/changes/patch.ts";
import { showChanges } from "../../runtime/changes/show.ts";
import type { CommonOptions } from "../open-project.ts";
import { plainLine, plainText } from "../plain-text.ts";
import type { Terminal } from "../terminal.ts";
import { nameChanges, withChanges } from "./with-changes.ts";

/** Options of `retinue diff`. */
export type DiffOptions = CommonOptions & { stat?: boolean };

/** `retinue diff`: what a run and everything below it changed. */
export async function showDiff(name: string, options: DiffOptions, terminal: Terminal): Promise<void> {
  const { scope, folders, unkept, untrusted } = await withChanges(terminal, name, async (kept) => {
    const shown = await showChanges(kept, nameChanges(kept.store, name, options, terminal));
    const written = shown.scope.changes.filter(
      ({ after }) => after && kept.store.hasUntrustedHash(after.hash),
    );
    return { ...shown, untrusted: [...new Set(written.map(({ path }) => path))] };
  });
  if (options.json) {
    const shown = folders.map(({ root, isProject, patches }) => ({
      root,
      project: isProject,
      files: patches.map(({ text, ...file }) => (options.stat ? file : { ...file, patch: text })),
    }));
    return terminal.print(
      JSON.stringify({ id: scope.id, folders: shown, not_kept: unkept, untrusted }, null, 2),
    );
  }
  for (const text of unkept) terminal.tell(`warning: ${plainLine(text, 300)}`);
  if (folders.length === 0) return terminal.tell(`${scope.id} changed no files`);
  for (const { root, isProject, patches } of folders) {
    if (!isProject) terminal.tell(`in the run's own copy ${plainLine(root, 200)}:`);
    const lines = options.stat ? patchStat(patches) : patches.map((patch) => patch.text);
    terminal.print(plainText(lines.join("\n")));
  }
  if (untrusted.length === 0) return;
  const files = plainLine(untrusted.join(" "), 2_000);
  terminal.tell(`untrusted until you have looked; then: retinue trust-files ${files}`);
}
