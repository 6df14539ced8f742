import { showChanges } from "../../runtime/changes/show.ts";
import type { RunDetail, RunDiff } from "../../schema/api/inspect.ts";
import type { MessageDetail, StepList } from "../../schema/api/session.ts";
import { digits, numberOf } from "../api/digits.ts";
import { runDetail as detailShape, record, runDiff } from "../api/inspect-shapes.ts";
import { defineRoute, NotFound, type Route } from "../api/route.ts";
import { stepList } from "../api/session-shapes.ts";
import { orNull, shape, text } from "../api/shapes.ts";
import { ownRun, ownSession } from "../own-project.ts";
import { readSteps } from "../views/read-steps.ts";
import { runDetail } from "../views/run-detail.ts";

const MOST_STEPS = 1_000;

/** One run: its prompt, result, rights, files, changes and calls. */
export const runRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/runs/:id",
    summary: "Everything about one run.",
    answer: detailShape,
    handle({ params: { id = "" } }, desk): Promise<RunDetail> {
      const { row, session } = ownRun(desk, id);
      return runDetail(desk.runtime.store, row, session);
    },
  }),
  defineRoute<{ after?: string; limit?: string }>({
    method: "get",
    path: "/api/runs/:id/steps",
    summary: "Model and tool calls of a run, in the order they opened.",
    query: shape({ "after?": digits, "limit?": digits }),
    answer: stepList,
    handle({ params: { id = "" }, query: { after, limit } }, desk): StepList {
      const { session } = ownRun(desk, id);
      return readSteps(desk.runtime.store, session, {
        runId: id,
        after: Number(after ?? 0),
        limit: numberOf(limit, { otherwise: 200, least: 1, most: MOST_STEPS }),
      });
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/runs/:id/diff",
    summary: "What a run and everything below it changed in the project.",
    answer: runDiff,
    async handle({ params: { id = "" } }, desk): Promise<RunDiff> {
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
    answer: shape({ row: record, systemPrompt: orNull(text) }),
    handle({ params: { id = "" } }, desk): MessageDetail {
      const { store } = desk.runtime;
      const row = /^\d{1,15}$/.test(id) ? store.message(Number(id)) : undefined;
      if (!row) throw new NotFound(`there is no message '${id}' in this project`);
      ownSession(desk, row.session_id);
      const prompt = row.system_prompt_id === null ? undefined : store.prompt(row.system_prompt_id);
      return { row: { ...row }, systemPrompt: prompt ?? null };
    },
  }),
];
