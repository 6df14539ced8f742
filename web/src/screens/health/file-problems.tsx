import { FilePen } from "lucide-react";
import { Link } from "wouter";
import type { AgentCard } from "../../../../src/schema/api/agent.ts";
import type { HealthView } from "../../../../src/schema/api/inspect.ts";
import { partOf } from "../../api/client.ts";
import { useAbout, useAgents } from "../../api/queries.ts";
import { visibleText } from "../../ui/text/visible-text.ts";
import { type Standing, VerdictBadge } from "./verdict-badge.tsx";

type FileProblem = HealthView["problems"][number];

const STANDINGS: Readonly<Record<string, Standing>> = { error: "problem", warning: "warning", info: "note" };

/** Files that were repaired, are odd, or were skipped: where, what, and how to mend it. */
export function FileProblems({ problems }: { problems: readonly FileProblem[] }) {
  const { data } = useAgents();
  const { data: about } = useAbout();
  return (
    <ul aria-label="Problems in files">
      {problems.map((problem) => (
        <ProblemRow
          key={`${problem.file}:${problem.line} ${problem.code} ${problem.message}`}
          problem={problem}
          agent={data?.agents.find((agent) => isFileOf(problem.file, agent)) ?? null}
          project={about?.project ?? null}
        />
      ))}
    </ul>
  );
}

function ProblemRow({
  problem,
  agent,
  project,
}: {
  problem: FileProblem;
  agent: AgentCard | null;
  project: string | null;
}) {
  const { severity, file, line, code, message, fix } = problem;
  const short = project && file.startsWith(`${project}/`) ? file.slice(project.length + 1) : file;
  return (
    <li className="flex gap-x-3 gap-y-1 border-t border-line px-4 py-2.5 max-sm:flex-col">
      <VerdictBadge standing={STANDINGS[severity] ?? "note"} />
      <div className="grid min-w-0 flex-1 gap-1 text-sm">
        <p className="wrap-anywhere">{visibleText(message)}</p>
        <p className="flex flex-wrap gap-x-2 text-xs text-ink-3">
          <span title={file} className="font-mono wrap-anywhere">
            {visibleText(short)}
            {line > 0 && `:${line}`}
          </span>
          <span className="font-mono">{code}</span>
        </p>
        {fix && (
          <p className="text-xs wrap-anywhere text-ink-2">
            <span className="text-ink-3">What helps:</span> {visibleText(fix)}
          </p>
        )}
      </div>
      {agent && (
        <Link
          href={`/agents/${partOf(agent.name)}`}
          className="inline-flex h-6 shrink-0 items-center gap-1 self-start rounded-md px-1.5 text-xs font-medium text-accent hover:bg-hover"
        >
          <FilePen aria-hidden className="size-3.5" /> {agent.isEditable ? "Edit" : "Open"}{" "}
          {agent.displayName}
        </Link>
      )}
    </li>
  );
}

/** A card names its file as people do, which is the end of the whole path. */
function isFileOf(file: string, agent: AgentCard): boolean {
  if (agent.file === null) return false;
  const named = agent.file.replace(/^~\//, "");
  return file === named || file.endsWith(`/${named}`);
}
