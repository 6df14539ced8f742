import { useEffect, useState } from "react";

/** So long after it appeared nothing that was typed or clicked before can be meant for it. */
export const ARMING_MS = 600;

/** Whether a question has been on the page for long enough to be answered; another `id` begins anew. */
export function useArmed(id: string): boolean {
  const [armed, setArmed] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setArmed(id), ARMING_MS);
    return () => clearTimeout(timer);
  }, [id]);
  return armed === id;
}
