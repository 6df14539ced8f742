import type { Problem } from "../../../../../src/schema/agent.ts";
import { ProblemLine } from "./problem-line.tsx";

/** Problems of files that no agent came of. */
export function FileProblems({ problems }: { problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <section aria-label="Files that could not be used" className="pt-4">
      <h2 className="px-2 pb-1 text-2xs font-semibold text-ink-3">Files that could not be used</h2>
      <ul className="grid gap-1.5 px-2">
        {problems.map((problem) => (
          <li key={`${problem.file} ${problem.line} ${problem.code} ${problem.message}`}>
            <ProblemLine problem={problem} place={`${problem.file}:${problem.line}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}
