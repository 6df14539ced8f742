import { useParams } from "wouter";
import { SessionScope } from "../../live/use-session.tsx";
import { TracePage } from "./trace-page.tsx";

/** One session as a tree of runs, drawn along time. */
export default function TraceScreen() {
  const { session = "" } = useParams<{ session: string }>();
  return (
    <SessionScope sessionId={session} isPatient>
      <TracePage key={session} />
    </SessionScope>
  );
}
