import { useQuery } from "@tanstack/react-query";
import type { StorageView } from "../../../../src/schema/api/session.ts";
import { api } from "../../api/client.ts";
import { showBytes } from "../../ui/measures.ts";

/** What the record takes on disk, and how to make it less. */
export function StorageCard() {
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
