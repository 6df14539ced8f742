import type { AgentCard } from "@retinue/core/schema/api/agent";
import type { HealthView } from "@retinue/core/schema/api/inspect";
import { CircleAlert, CircleCheck, CircleMinus, CircleX, FilePen } from "lucide-react";
import type { ComponentType } from "react";
import { Link } from "wouter";
import { encodePart } from "../../data/client.ts";
import { useAbout, useAgents } from "../../data/queries.ts";
import { join } from "../../ui/class-names.ts";
import { CopyText } from "../../ui/copy.tsx";
import { revealHidden } from "../../ui/text/visible-text.ts";
import { type HealthCheck, splitRemedy } from "./group-checks.ts";

/** What one check found, and what helps. */
export function CheckRow({ check: { verdict, summary, details = [], remedy } }: { check: HealthCheck }) {
  return (
    <li className="flex gap-x-3 gap-y-1 border-t border-line px-4 py-2.5 first:border-t-0 max-sm:flex-col">
      <VerdictBadge standing={verdict} />
      <div className="grid min-w-0 flex-1 gap-1.5 text-sm">
        <p className={verdict === "skipped" ? "wrap-anywhere text-ink-2" : "wrap-anywhere"}>
          {revealHidden(summary)}
        </p>
        {details.length > 0 && (
          <ul className="grid gap-0.5 font-mono text-xs text-ink-2">
            {[...new Set(details)].map((detail) => (
              <li key={detail} className="wrap-anywhere">
                {revealHidden(detail)}
              </li>
            ))}
          </ul>
        )}
        {remedy && verdict !== "ok" && <RemedyLine remedy={remedy} />}
      </div>
    </li>
  );
}

function RemedyLine({ remedy }: { remedy: string }) {
  const { before, command, after } = splitRemedy(remedy);
  return (
    <div className="flex flex-wrap items-center gap-2 text-xs text-ink-2">
      <span className="text-ink-3">What helps:</span>
      {before && <span className="wrap-anywhere">{revealHidden(before)}</span>}
      {command && <CopyText text={command} />}
      {after && <span className="wrap-anywhere">{revealHidden(after)}</span>}
    </div>
  );
}

type FileProblem = HealthView["problems"][number];

const STANDINGS: Readonly<Record<string, Standing>> = { error: "problem", warning: "warning", info: "note" };

/** Files that were repaired, are odd, or were skipped: where, what, and how to fix it. */
export function FileProblems({ problems }: { problems: readonly FileProblem[] }) {
  const { data } = useAgents();
  const { data: about } = useAbout();
  return (
    <ul aria-label="Problems in files">
      {problems.map((problem) => (
        <ProblemRow
          key={`${problem.file}:${problem.line} ${problem.code} ${problem.message}`}
          problem={problem}
          agent={data?.agents.find((agent) => isAgentFile(problem.file, agent)) ?? null}
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
        <p className="wrap-anywhere">{revealHidden(message)}</p>
        <p className="flex flex-wrap gap-x-2 text-xs text-ink-3">
          <span title={file} className="font-mono wrap-anywhere">
            {revealHidden(short)}
            {line > 0 && `:${line}`}
          </span>
          <span className="font-mono">{code}</span>
        </p>
        {fix && (
          <p className="text-xs wrap-anywhere text-ink-2">
            <span className="text-ink-3">What helps:</span> {revealHidden(fix)}
          </p>
        )}
      </div>
      {agent && (
        <Link
          href={`/agents/${encodePart(agent.name)}`}
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
function isAgentFile(file: string, agent: AgentCard): boolean {
  if (agent.file === null) return false;
  const named = agent.file.replace(/^~\//, "");
  return file === named || file.endsWith(`/${named}`);
}

/** How something stands: a check's verdict, or the severity of a problem in a file. */
type Standing = "ok" | "warning" | "problem" | "skipped" | "note";

type Look = { word: string; tone: string; icon: ComponentType<{ className?: string }> };

const LOOKS: Readonly<Record<Standing, Look>> = {
  ok: { word: "works", tone: "text-ok", icon: CircleCheck },
  warning: { word: "warning", tone: "text-warn", icon: CircleAlert },
  problem: { word: "problem", tone: "text-bad", icon: CircleX },
  skipped: { word: "skipped", tone: "text-off", icon: CircleMinus },
  note: { word: "note", tone: "text-off", icon: CircleMinus },
};

/** Icon and word of a standing, in a column of its own width. */
function VerdictBadge({ standing }: { standing: Standing }) {
  const { word, tone, icon: Icon } = LOOKS[standing];
  return (
    <span
      data-verdict={standing}
      className={join(
        "inline-flex h-5 w-24 shrink-0 items-center self-start gap-1.5 text-xs font-medium",
        tone,
      )}
    >
      <Icon aria-hidden className="size-4 shrink-0" /> {word}
    </span>
  );
}
