import { cleanUp, measureStorage, planCleanUp } from "../../runtime/cleanup/clean-up.ts";
import type { Removal, RemovalRequest, StorageView } from "../../schema/api/session.ts";
import { defineRoute, type Route } from "../api/route.ts";
import { flag, list, shape, text, whole, words } from "../api/shapes.ts";
import type { Desk } from "../desk.ts";
import { mustBeWritable } from "../must-be-writable.ts";
import { ownSession } from "../own-project.ts";

/** Removes sessions, and says what they take. */
export const removalRoutes: readonly Route[] = [
  defineRoute<Record<string, never>, RemovalRequest>({
    method: "post",
    path: "/api/sessions/removal",
    summary:
      "Removes sessions that have ended, with their files and what only they needed; with `dryRun` only says what would go.",
    body: shape({
      sessionIds: { type: "array", items: words(300), minItems: 1, maxItems: 1_000 },
      "dryRun?": flag,
    }),
    answer: shape({
      sessions: whole,
      bytes: whole,
      kept: list(shape({ sessionId: text, why: text })),
    }),
    async handle({ body: { sessionIds, dryRun = false } }, desk): Promise<Removal> {
      const rows = [...new Set(sessionIds)].map((id) => ownSession(desk, id));
      const parts = partsOf(desk);
      const { removable, kept, bytes } = await planCleanUp(parts, rows);
      const planned = { sessions: removable.length, bytes: Math.round(bytes), kept: [...kept] };
      if (dryRun || removable.length === 0) return planned;
      mustBeWritable(desk);
      const ids = removable.map(({ session }) => session.session_id);
      const { sessions } = await cleanUp(parts, ids);
      for (const id of ids) desk.feeds.asksChanged(id);
      return { ...planned, sessions };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/storage",
    summary: "How much the record and what belongs to it take on disk, of all projects.",
    answer: shape({
      databaseBytes: whole,
      freeBytes: whole,
      workspaceBytes: whole,
      contentBytes: whole,
      shadowBytes: whole,
    }),
    handle: (_, desk): Promise<StorageView> => measureStorage(partsOf(desk)),
  }),
];

function partsOf({ runtime, project }: Desk) {
  return { store: runtime.store, dataDir: project.current().places.dataDir };
}
