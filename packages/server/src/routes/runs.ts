import { showChanges } from "@retinue/core/changes/show";
import { RunDetail, RunDiff } from "@retinue/core/schema/api/inspect";
import { MessageDetail, StepList } from "@retinue/core/schema/api/session";
import { ownRun, ownSession } from "../desk.ts";
import { NotFound } from "../http/http-errors.ts";
import { PAGED, readPaging } from "../http/paging.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";
import { readRunDetail } from "../views/run-detail.ts";
import { MOST_STEPS, readSteps, USUAL_STEPS } from "../views/run-view.ts";

/** One run: its prompt, result, rights, files, changes and calls. */
export const runRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/runs/:id",
    summary: "Everything about one run.",
    answer: RunDetail,
    async handle({ params: { id } }, desk) {
      const { row, session } = await ownRun(desk, id);
      return readRunDetail(desk.runtime.record, row, session);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/runs/:id/steps",
    summary: "Model and tool calls of a run, in the order they opened.",
    query: PAGED,
    answer: StepList,
    async handle({ params: { id }, query }, desk) {
      const { session } = await ownRun(desk, id);
      const paging = readPaging(query, USUAL_STEPS, MOST_STEPS);
      return readSteps(desk.runtime.record, session, { runId: id, ...paging });
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/runs/:id/diff",
    summary: "What a run and everything below it changed in the project.",
    answer: RunDiff,
    async handle({ params: { id } }, desk) {
      await ownRun(desk, id);
      const { record } = desk.runtime;
      const { folders, unkept } = await showChanges({ record, blobs: desk.blobs }, id);
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
    async handle({ params: { id } }, desk) {
      const { record } = desk.runtime;
      const row = /^\d{1,15}$/.test(id) ? await record.readRow(Number(id)) : undefined;
      if (!row) throw new NotFound(`there is no message '${id}' in this project`);
      await ownSession(desk, row.session_id);
      const prompt = row.system_prompt_id === null ? undefined : await record.readText(row.system_prompt_id);
      return { row: { ...row }, systemPrompt: prompt ?? null };
    },
  }),
];
