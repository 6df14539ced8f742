import { cleanUp, measureStorage, planCleanUp } from "@retinue/core/runtime/clean-up";
import { Removal, RemovalRequest, StorageView } from "@retinue/core/schema/api/session";
import { mustBeWritable, readProjectFolder, type ServerDesk } from "../desk.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";

/** Removes sessions, and says what they take. */
export const removalRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "post",
    path: "/api/sessions/removal",
    summary:
      "Removes sessions that have ended, with their files and what only they needed; with `dryRun` only says what would go.",
    body: RemovalRequest,
    answer: Removal,
    async handle({ body: { sessionIds, dryRun = false } }, desk) {
      const parts = gatherParts(desk);
      const planned = await planRemoval(desk, [...new Set(sessionIds)]);
      if (dryRun || planned.going.length === 0) return planned;
      await mustBeWritable(desk);
      const ids = planned.going.map(({ sessionId }) => sessionId);
      const { sessions } = await cleanUp(parts, ids);
      for (const id of ids) desk.feeds.asksChanged(id);
      return { ...planned, sessions };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/storage",
    summary: "How much the record and what belongs to it take on disk, of all projects.",
    answer: StorageView,
    handle: (_, desk) => measureStorage(gatherParts(desk)),
  }),
];

/** What would go. If one was removed meanwhile, the others can be removed all the same. */
async function planRemoval(desk: ServerDesk, sessionIds: readonly string[]): Promise<Removal> {
  const { record } = desk.runtime;
  const project = readProjectFolder(desk);
  const found = await Promise.all(sessionIds.map((id) => record.readSession(id)));
  const rows = found.flatMap((row) => (row?.project === project ? [row] : []));
  const titles = new Map(rows.map((row) => [row.session_id, row.title]));
  const { removable, kept, bytes } = await planCleanUp(gatherParts(desk), rows);
  const missing = sessionIds.filter((id) => !titles.has(id));
  return {
    sessions: removable.length,
    bytes: Math.round(bytes),
    going: removable.map(({ session, bytes: size }) => ({
      sessionId: session.session_id,
      title: session.title,
      bytes: Math.round(size),
    })),
    kept: [
      ...kept.map(({ sessionId, why }) => ({ sessionId, title: titles.get(sessionId) ?? "", why })),
      ...missing.map((sessionId) => ({ sessionId, title: "", why: "it is not there" })),
    ],
  };
}

function gatherParts({ runtime, project }: ServerDesk) {
  return { record: runtime.record, dataDir: project.current().places.dataDir };
}
