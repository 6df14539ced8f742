import { useSignal } from "../../live/signal.ts";
import { useSelected } from "../../live/use-selected.ts";
import { useSession } from "../../live/use-session.tsx";
import { countOf } from "../../ui/measures.ts";
import { lookOf } from "../../ui/status.tsx";
import { standingOfSession } from "./standing-of-session.ts";

/** Tells screen readers how the session stands, in a few words and only when that changes. Streaming text is not read out. */
export function Announcer() {
  const store = useSession();
  const session = useSignal(store.session);
  const failed = useSelected(store.totals, (totals) => totals.failed);
  if (!session) return null;
  return (
    <p role="status" className="sr-only">
      {`Session ${lookOf(standingOfSession(session)).word}.`}
      {session.asks > 0 && ` ${countOf(session.asks, "call")} waiting for you.`}
      {failed > 0 && ` ${countOf(failed, "run")} failed.`}
    </p>
  );
}
