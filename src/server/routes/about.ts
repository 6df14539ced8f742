import { basename } from "node:path";
import type { About } from "../../schema/api/inspect.ts";
import { defineRoute, type Route } from "../api/route.ts";
import { flag, list, number, orNull, shape, text } from "../api/shapes.ts";
import type { Desk } from "../desk.ts";
import { projectOf } from "../own-project.ts";
import { examplesFor } from "../views/examples.ts";

/** What the app must know at its start. */
export const aboutRoutes: readonly Route[] = [
  defineRoute({
    method: "get",
    path: "/api/about",
    summary: "The project, the model and what to begin with.",
    answer: shape({
      version: text,
      project: text,
      projectName: text,
      startedAtMs: number,
      agent: text,
      model: shape({ name: text, isOffline: flag }),
      permissionMode: text,
      examples: list(shape({ title: text, task: text, agent: orNull(text) })),
    }),
    async handle(_, desk): Promise<About> {
      const project = projectOf(desk);
      return {
        version: desk.version,
        project,
        projectName: basename(project),
        startedAtMs: desk.startedAtMs,
        agent: desk.agent,
        model: await modelOf(desk),
        permissionMode: desk.permissionMode,
        examples: await examplesFor(project, desk.project.current().settings),
      };
    },
  }),
];

/** A model that cannot be had now is still the one that was chosen; the health page says what is wrong with it. */
async function modelOf({ runtime, agent, model }: Desk): Promise<About["model"]> {
  const name = await runtime.modelOf(agent, model).catch(() => model ?? "none");
  return { name, isOffline: name === "offline" || name.startsWith("offline/") };
}
