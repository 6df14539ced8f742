import { countOf } from "../../../ui/measures.ts";
import { splitFiles } from "./fact-rows.ts";
import type { SessionFacts } from "./facts-of-session.ts";

const MOST_SHOWN = 200;

/** Which files only one of the sessions made or changed, and which both did. */
export function FileLists({ a, b }: { a: SessionFacts; b: SessionFacts }) {
  const { onlyA, onlyB, both } = splitFiles(a, b);
  if (onlyA.length + onlyB.length + both.length === 0) return null;
  return (
    <details className="border-b border-line bg-panel px-4 py-1.5">
      <summary className="cursor-pointer rounded text-xs font-medium text-ink-2 hover:text-ink">
        Which files
      </summary>
      <div className="grid gap-x-4 gap-y-2 py-2 sm:grid-cols-3">
        <FileList title="Only in A" files={onlyA} />
        <FileList title="Only in B" files={onlyB} />
        <FileList title="In both" files={both} />
      </div>
    </details>
  );
}

function FileList({ title, files }: { title: string; files: readonly string[] }) {
  return (
    <div className="min-w-0">
      <h3 className="text-xs text-ink-3">
        {title}: {countOf(files.length, "file")}
      </h3>
      <ul className="font-mono text-xs">
        {files.slice(0, MOST_SHOWN).map((file) => (
          <li key={file} className="wrap-anywhere">
            {file}
          </li>
        ))}
      </ul>
      {files.length > MOST_SHOWN && <p className="text-xs text-ink-3">… {files.length - MOST_SHOWN} more</p>}
    </div>
  );
}
