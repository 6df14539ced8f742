import type { AgentCard } from "@retinue/core/schema/api/agent";
import type { HealthView } from "@retinue/core/schema/api/inspect";
import type { StorageView } from "@retinue/core/schema/api/session";
import { showBytes, showCount } from "@retinue/core/show/measures";
import { CircleAlert, CircleCheck, CircleMinus, CircleX, FilePen, RotateCw } from "lucide-react";
import { encodePart } from "../../data/client.ts";
import { renew, useAbout, useAgents, useFetched } from "../../data/queries.ts";
import { useNow } from "../../live/signal.ts";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { Button, ButtonLink } from "../../ui/controls.tsx";
import { CopyText } from "../../ui/copy.tsx";
import { revealHidden } from "../../ui/rich-text/visible-text.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { showAge } from "../../ui/show-moment.ts";
import { Failed, Loaded } from "../../ui/states.tsx";
import { Badge, type BadgeLook } from "../../ui/status.tsx";
import { type CheckGroup, FILE_GROUP, groupChecks, type HealthCheck, splitRemedy } from "./group-checks.ts";

/** Whether everything that a run needs is there, and what to do about what is not. */
export default function HealthScreen() {
  const query = useFetched<HealthView>(["health"], "/api/health", { staleTime: 60_000 });
  const { data, isFetching, dataUpdatedAt, refetch } = query;
  const now = useNow(true);
  const again = async () => {
    await refetch();
    await renew({ queryKey: ["agents"] });
    await renew({ queryKey: ["about"] });
  };
  return (
    <>
      <ScreenHead
        title="Health"
        about={data && <span className="figures">checked {showAge(dataUpdatedAt, now)}</span>}
      >
        <Button aria-disabled={isFetching} onClick={() => !isFetching && void again()}>
          <RotateCw aria-hidden className={join("size-3.5", isFetching && "animate-spin")} />
          {isFetching ? "Checking…" : "Check again"}
        </Button>
      </ScreenHead>
      <section aria-label="Checks" {...REACHABLE} className="min-h-0 flex-1 overflow-auto">
        {data && query.error && <Failed failure={query.error} onRetry={() => void again()} />}
        <Loaded query={{ ...query, refetch: again }} label="Checking" rows={9}>
          {(health) => (
            <div aria-busy={isFetching} className="mx-auto grid max-w-4xl gap-4 p-4">
              <OverallLine health={health} />
              {groupChecks(health.checks).map((group) => (
                <Group
                  key={group.name}
                  group={group}
                  problems={group.name === FILE_GROUP ? health.problems : []}
                />
              ))}
              <StorageCard />
            </div>
          )}
        </Loaded>
      </section>
    </>
  );
}

function Group({ group, problems }: { group: CheckGroup; problems: HealthView["problems"] }) {
  const { name, checks } = group;
  return (
    <section aria-label={name} className="overflow-hidden rounded-lg border border-line bg-panel">
      <h2 className="border-b border-line bg-raised px-4 py-1.5 text-xs font-semibold text-ink-2">{name}</h2>
      <ul>
        {checks.map((check) => (
          <CheckRow key={`${check.check} ${check.summary}`} check={check} />
        ))}
      </ul>
      {problems.length > 0 && <FileProblems problems={problems} />}
    </section>
  );
}

const OVERALL = {
  problem: { sum: "Something does not work", icon: CircleX, tone: "text-bad", soft: "bg-bad-soft" },
  warning: { sum: "It works, with limitations", icon: CircleAlert, tone: "text-warn", soft: "bg-warn-soft" },
  ok: { sum: "Everything works", icon: CircleCheck, tone: "text-ok", soft: "bg-ok-soft" },
};

/** How everything stands, in one line. Problems of files are counted by the checks of those files. */
function OverallLine({ health: { checks, problems } }: { health: HealthView }) {
  const bad = checks.filter(({ verdict }) => verdict === "problem").length;
  const odd = checks.filter(({ verdict }) => verdict === "warning").length;
  const fine = checks.filter(({ verdict }) => verdict === "ok").length;
  const { icon: Icon, tone, soft, sum } = OVERALL[bad > 0 ? "problem" : odd > 0 ? "warning" : "ok"];
  const parts = [
    ...(bad > 0 ? [showCount(bad, "problem")] : []),
    ...(odd > 0 ? [showCount(odd, "warning")] : []),
    `${fine} of ${showCount(checks.length, "check")} are fine`,
    ...(problems.length > 0 ? [`${showCount(problems.length, "remark")} on files`] : []),
  ];
  return (
    <p
      role="status"
      className={join("flex flex-wrap items-center gap-x-2 rounded-lg px-4 py-2.5 text-sm", soft)}
    >
      <Icon aria-hidden className={join("size-4 shrink-0", tone)} />
      <strong className={join("font-semibold", tone)}>{sum}</strong>
      <span className="figures text-ink-2">{parts.join(", ")}</span>
    </p>
  );
}

/** What the record takes on disk, and how to make it less. */
function StorageCard() {
  const { data } = useFetched<StorageView>(["storage"], "/api/storage", { staleTime: 60_000 });
  if (!data) return null;
  const rows: readonly (readonly [string, number])[] = [
    ["Database", data.databaseBytes],
    ["of it free", data.freeBytes],
    ["Files of sessions", data.workspaceBytes],
    ["Contents kept for undo", data.contentBytes],
    ["Copies of projects to compare with", data.shadowBytes],
  ];
  return (
    <section aria-label="Storage" className="overflow-hidden rounded-lg border border-line bg-panel">
      <h2 className="border-b border-line bg-raised px-4 py-1.5 text-xs font-semibold text-ink-2">Storage</h2>
      <dl className="grid grid-cols-[1fr_auto] gap-x-4 gap-y-1 px-4 py-3 text-sm">
        {rows.map(([name, bytes]) => (
          <div key={name} className="col-span-2 grid grid-cols-subgrid">
            <dt className="text-ink-2">{name}</dt>
            <dd className="figures text-right text-ink">{showBytes(bytes)}</dd>
          </div>
        ))}
      </dl>
      <p className="border-t border-line px-4 py-2 text-xs text-ink-2">
        Of all projects. Delete sessions under Runs, or with{" "}
        <code className="text-ink">retinue sessions prune --older-than 30d</code>, which also makes the
        database smaller. The setting <code className="text-ink">store.retentionDays</code> does it by itself.
      </p>
    </section>
  );
}

/** What one check found, and what helps. */
function CheckRow({ check: { verdict, summary, details = [], remedy } }: { check: HealthCheck }) {
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
      <span className="text-ink-3">To fix it:</span>
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

type ProblemRowProps = { problem: FileProblem; agent: AgentCard | null; project: string | null };

function ProblemRow({ problem, agent, project }: ProblemRowProps) {
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
            <span className="text-ink-3">To fix it:</span> {revealHidden(fix)}
          </p>
        )}
      </div>
      {agent && (
        <ButtonLink
          kind="quiet"
          small
          href={`/agents/${encodePart(agent.name)}`}
          className="self-start text-accent"
        >
          <FilePen aria-hidden className="size-3.5" /> {agent.isEditable ? "Edit" : "Open"}{" "}
          {agent.displayName}
        </ButtonLink>
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

const LOOKS: Readonly<Record<Standing, BadgeLook>> = {
  ok: { word: "works", tone: "text-ok", icon: CircleCheck },
  warning: { word: "warning", tone: "text-warn", icon: CircleAlert },
  problem: { word: "problem", tone: "text-bad", icon: CircleX },
  skipped: { word: "skipped", tone: "text-off", icon: CircleMinus },
  note: { word: "note", tone: "text-off", icon: CircleMinus },
};

/** Icon and word of a standing, in a column of its own width. */
function VerdictBadge({ standing }: { standing: Standing }) {
  return (
    <Badge data-verdict={standing} look={LOOKS[standing]} quiet className="w-24 gap-1.5 self-start text-xs" />
  );
}
