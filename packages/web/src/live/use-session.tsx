import { createContext, type ReactNode, useEffect, useState } from "react";
import { SessionStore } from "./session-store.ts";
import { useRequired } from "./use-required.ts";

const Context = createContext<SessionStore | null>(null);

type SessionScopeProps = { sessionId: string; isPatient?: boolean; children: ReactNode };

/** Opens a session for everything below it, and leaves it when the page does. `isPatient`: a component below says when to begin. */
export function SessionScope({ sessionId, isPatient = false, children }: SessionScopeProps) {
  const [store, setStore] = useState<SessionStore | null>(null);
  useEffect(() => {
    const opened = new SessionStore(sessionId);
    setStore(opened);
    if (!isPatient) opened.begin();
    return () => opened.close();
  }, [sessionId, isPatient]);
  if (store?.sessionId !== sessionId) return null;
  return <Context value={store}>{children}</Context>;
}

/** The session that the surrounding scope has opened. */
export function useSession(): SessionStore {
  return useRequired(Context, "session");
}
