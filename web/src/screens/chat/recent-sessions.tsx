import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import type { SessionCard, SessionList } from "../../../../src/schema/api/session.ts";
import { api } from "../../api/client.ts";
import { useNow } from "../../live/use-now.ts";
import { countOf, showAge, showCost } from "../../ui/measures.ts";
import { Failed } from "../../ui/states.tsx";
import { StatusBadge } from "../../ui/status.tsx";
import { standingOfSession } from "./standing-of-session.ts";

const MOST = 8;

/** The last sessions of this project. */
export function RecentSessions() {
  const { data, error, refetch } = useQuery({
    queryKey: ["sessions", "recent"],
    queryFn: () => api.get<SessionList>(`/api/sessions?limit=${MOST}`),
  });
  const now = useNow(true);
  if (error && !data) return <Failed failure={error} onRetry={() => void refetch()} />;
  if (!data || data.sessions.length === 0) return null;
  return (
    <section aria-labelledby="recent" className="grid gap-1">
      <div className="flex items-baseline justify-between px-1">
        <h2 id="recent" className="text-xs font-semibold text-ink-3">
          Recent
        </h2>
        <Link href="/runs" className="text-xs text-accent hover:underline">
          All runs
        </Link>
      </div>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-panel">
        {data.sessions.map((session) => (
          <li key={session.session_id}>
            <RecentSession session={session} now={now} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function RecentSession({ session, now }: { session: SessionCard; now: number }) {
  const { session_id: id, title, runs, cost_usd: cost, updated_at: updatedAt } = session;
  return (
    <Link href={`/chat/${id}`} className="flex items-center gap-3 px-3 py-2 hover:bg-hover">
      <span className="min-w-0 flex-1 truncate text-sm" title={title || id}>
        {title || id}
      </span>
      <StatusBadge standing={standingOfSession(session)} />
      <span className="figures w-16 shrink-0 text-right text-xs text-ink-3 max-sm:hidden">
        {countOf(runs, "run")}
      </span>
      <span className="figures w-14 shrink-0 text-right text-xs text-ink-3 max-sm:hidden">
        {showCost(cost)}
      </span>
      <span className="figures w-16 shrink-0 text-right text-xs text-ink-3">
        {showAge(Date.parse(updatedAt), now)}
      </span>
    </Link>
  );
}
