import type { HealthView } from "@retinue/core/schema/api/inspect";
import type { StorageView } from "@retinue/core/schema/api/session";
import { showBytes, showCount } from "@retinue/core/show/measures";
import { useQuery } from "@tanstack/react-query";
import { CircleAlert, CircleCheck, CircleX, RotateCw } from "lucide-react";
import { api } from "../../data/client.ts";
import { renew } from "../../data/queries.ts";
import { useNow } from "../../live/signal.ts";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { Button } from "../../ui/controls.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { showAge } from "../../ui/show-moment.ts";
import { Failed, Loading } from "../../ui/states.tsx";
import { CheckRow, FileProblems } from "./check-row.tsx";
import { type CheckGroup, FILE_GROUP, groupChecks } from "./group-checks.ts";

/** Whether everything that a run needs is there, and what to do about what is not. */
export default function HealthScreen() {
  const { data, error, isFetching, dataUpdatedAt, refetch } = useQuery({
    queryKey: ["health"],
    queryFn: () => api.get<HealthView>("/api/health"),
    staleTime: 60_000,
  });
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
        {error && <Failed failure={error} onRetry={() => void again()} />}
        {data ? (
          <div aria-busy={isFetching} className="mx-auto grid max-w-4xl gap-4 p-4">
            <OverallLine health={data} />
            {groupChecks(data.checks).map((group) => (
              <Group
                key={group.name}
                group={group}
                problems={group.name === FILE_GROUP ? data.problems : []}
              />
            ))}
            <StorageCard />
          </div>
        ) : (
          !error && <Loading label="Checking" rows={9} />
        )}
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

/** How everything stands, in one line. Problems of files are counted by the checks of those files. */
function OverallLine({ health: { checks, problems } }: { health: HealthView }) {
  const bad = checks.filter(({ verdict }) => verdict === "problem").length;
  const odd = checks.filter(({ verdict }) => verdict === "warning").length;
  const fine = checks.filter(({ verdict }) => verdict === "ok").length;
  const [Icon, tone, soft] =
    bad > 0
      ? [CircleX, "text-bad", "bg-bad-soft"]
      : odd > 0
        ? [CircleAlert, "text-warn", "bg-warn-soft"]
        : [CircleCheck, "text-ok", "bg-ok-soft"];
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
      <strong className={join("font-semibold", tone)}>
        {bad > 0
          ? "Something does not work"
          : odd > 0
            ? "It works, with less than it could"
            : "Everything works"}
      </strong>
      <span className="figures text-ink-2">{parts.join(", ")}</span>
    </p>
  );
}

/** What the record takes on disk, and how to make it less. */
function StorageCard() {
  const { data } = useQuery({
    queryKey: ["storage"],
    queryFn: () => api.get<StorageView>("/api/storage"),
    staleTime: 60_000,
  });
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
