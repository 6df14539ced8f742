import { useQuery } from "@tanstack/react-query";
import { RotateCw } from "lucide-react";
import type { HealthView } from "../../../../src/schema/api/inspect.ts";
import { api } from "../../api/client.ts";
import { renew } from "../../api/queries.ts";
import { useNow } from "../../live/use-now.ts";
import { Button } from "../../ui/button.tsx";
import { join } from "../../ui/join.ts";
import { showAge } from "../../ui/measures.ts";
import { REACHABLE } from "../../ui/reachable.ts";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Failed, Loading } from "../../ui/states.tsx";
import { CheckRow } from "./check-row.tsx";
import { FileProblems } from "./file-problems.tsx";
import { type CheckGroup, FILE_GROUP, groupChecks } from "./group-checks.ts";
import { OverallLine } from "./overall-line.tsx";
import { StorageCard } from "./storage-card.tsx";

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
