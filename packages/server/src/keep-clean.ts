import { systemClock } from "@retinue/core/budget/clock";
import { cleanUp, planCleanUp } from "@retinue/core/runtime/clean-up";
import { showCount } from "@retinue/core/show/measures";
import type { BackgroundPorts, ServerDesk } from "./desk.ts";

const DAY_MS = 86_400_000;

/** Removes, now and once a day, what ended longer ago than the settings keep it; gives how to stop. */
export function keepClean(
  { runtime, project }: Pick<ServerDesk, "runtime" | "project">,
  { tell, onFault, clock = systemClock }: BackgroundPorts,
): () => void {
  const { settings, places } = project.current();
  const { retentionDays } = settings.store;
  if (retentionDays === undefined) return () => {};
  const parts = { record: runtime.record, dataDir: places.dataDir };
  let callOff = () => {};
  let isOver = false;
  const clean = async () => {
    const untilMs = clock.wallMs() - retentionDays * DAY_MS;
    const { sessions: old } = await parts.record.listSessions({ status: "ended", untilMs, limit: -1 });
    const { removable } = await planCleanUp(parts, old.toReversed());
    if (isOver || removable.length === 0) return;
    const ids = removable.map(({ session }) => session.session_id);
    const { sessions } = await cleanUp(parts, ids);
    tell(`removed ${showCount(sessions, "session")} that ended more than ${retentionDays} days ago`);
  };
  const again = () => {
    if (isOver) return;
    clean()
      .catch(onFault)
      .finally(() => {
        if (!isOver) callOff = clock.timer(DAY_MS, again);
      });
  };
  again();
  return () => {
    isOver = true;
    callOff();
  };
}
