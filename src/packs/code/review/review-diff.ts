import { changeRules } from "./change-rules.ts";
import { fileRules } from "./file-rules.ts";
import type { Finding, Severity } from "./finding.ts";
import { lineRules } from "./line-rules.ts";
import type { FileDiff } from "./read-diff.ts";

const ORDER: Readonly<Record<Severity, number>> = { high: 0, medium: 1, low: 2 };

/** What the rules see in a change, worst first and then by place. Deleted files have nothing left to look at. */
export function reviewDiff(files: readonly FileDiff[]): Finding[] {
  const present = files.filter(({ status }) => status !== "deleted");
  return sorted([...reviewFiles(present), ...changeRules(files)]);
}

/** What the rules see in files by themselves. */
export function reviewFiles(files: readonly FileDiff[]): Finding[] {
  return sorted(files.flatMap((file) => [...lineRules(file), ...fileRules(file)]));
}

function sorted(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (a, b) =>
      ORDER[a.severity] - ORDER[b.severity] || (a.path < b.path ? -1 : a.path > b.path ? 1 : a.at - b.at),
  );
}
