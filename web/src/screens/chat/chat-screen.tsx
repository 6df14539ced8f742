import { useParams } from "wouter";
import { SessionScope } from "../../live/use-session.tsx";
import { Conversation } from "./conversation.tsx";
import { StartPage } from "./start-page.tsx";

/** A conversation with its tree of runs, or the place where one begins. */
export default function ChatScreen() {
  const { session } = useParams<{ session?: string }>();
  if (session === undefined) return <StartPage />;
  return (
    <SessionScope key={session} sessionId={session}>
      <Conversation />
    </SessionScope>
  );
}
