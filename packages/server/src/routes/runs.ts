import { showChanges } from "@retinue/core/changes/show";
import { RunDetail, RunDiff } from "@retinue/core/schema/api/inspect";
import { MessageDetail, StepList } from "@retinue/core/schema/api/session";
import { digits, shape } from "@retinue/core/schema/shape";
import { ownRun, ownSession } from "../desk.ts";
import { NotFound } from "../http/http-errors.ts";
import { type ApiRoute, defineRoute, readDigits } from "../http/route.ts";
import { readRunDetail } from "../views/run-detail.ts";
import { readSteps } from "../views/run-view.ts";

const MOST_STEPS = 1_000;

/** One run: its prompt, result, rights, files, changes and calls. */
export const runRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/runs/:id",
    summary: "Everything about one run.",
    answer: RunDetail,
    handle({ params: { id } }, desk) {
      const { row, session } = ownRun(desk, id);
      return readRunDetail(desk.runtime.store, row, session);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/runs/:id/steps",
    summary: "Model and tool calls of a run, in the order they opened.",
    query: shape({ "after?": digits, "limit?": digits }),
    answer: StepList,
    handle({ params: { id }, query: { after, limit } }, desk) {
      const { session } = ownRun(desk, id);
      return readSteps(desk.runtime.store, session, {
        runId: id,
        after: Number(after ?? 0),
        limit: readDigits(limit, { otherwise: 200, least: 1, most: MOST_STEPS }),
      });
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/runs/:id/diff",
    summary: "What a run and everything below it changed in the project.",
    answer: RunDiff,
    async handle({ params: { id } }, desk) {
      ownRun(desk, id);
      const { store } = desk.runtime;
      const { folders, unkept } = await showChanges({ store, blobs: desk.blobs }, id);
      return {
        folders: folders.map(({ root, isProject, patches }) => ({
          root,
          isProject,
          files: patches.map(({ path, kind, added, removed, text: patch }) => ({
            path,
            kind,
            added,
            removed,
            patch,
          })),
        })),
        unkept,
      };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/messages/:id",
    summary: "One row of the record, whole.",
    answer: MessageDetail,
    handle({ params: { id } }, desk) {
      const { store } = desk.runtime;
      const row = /^\d{1,15}$/.test(id) ? store.message(Number(id)) : undefined;
      if (!row) throw new NotFound(`there is no message '${id}' in this project`);
      ownSession(desk, row.session_id);
      const prompt = row.system_prompt_id === null ? undefined : store.prompt(row.system_prompt_id);
      return { row: { ...row }, systemPrompt: prompt ?? null };
    },
  }),
];
