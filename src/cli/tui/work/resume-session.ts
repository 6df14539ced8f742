import { RetinueError } from "../../../schema/error.ts";
import type { SessionRow } from "../../../schema/record.ts";
import type { Entry } from "../state/entry.ts";
import { isBusy } from "../tui-state.ts";
import type { Desk } from "./engine.ts";

/** `/resume [SESSION]`: goes on in an earlier session of this project; what a crash left open in it is finished first. */
export async function resumeSession(desk: Desk, id: string): Promise<void> {
  const { tui, runtime } = desk;
  if (isBusy(tui.snapshot().state))
    throw new RetinueError("input", "something still runs; stop it with Esc first");
  const session = find(desk, id);
  tui.dispatch({ type: "session", sessionId: session.session_id, entries: entriesOf(desk, session) });
  desk.say(`in session ${session.session_id}`);
  if (session.status === "running") await (await runtime.resume(session.session_id)).results;
}

function find({ runtime, tui, project }: Desk, id: string): SessionRow {
  const { store } = runtime;
  const now = tui.snapshot().state.sessionId;
  const found =
    id === "" || id === "last"
      ? store.sessions({ project: project.projectDir, limit: 2 }).find((each) => each.session_id !== now)
      : store.findSession(id);
  if (!found) throw new RetinueError("input", "there is no earlier session of this project");
  if (found.project !== project.projectDir)
    throw new RetinueError(
      "input",
      `session ${found.session_id} belongs to ${found.project}; start retinue there`,
    );
  return found;
}

/** What was asked and answered in a session so far. */
function entriesOf({ runtime }: Desk, { session_id }: SessionRow): Entry[] {
  return runtime.store
    .runs(session_id)
    .filter(({ request_type }) => request_type === "prompt")
    .flatMap(({ request_content, response_content, agent_role, run_id, metadata_json }): Entry[] => [
      { kind: "person", text: taskIn(metadata_json) ?? request_content ?? "" },
      ...(response_content
        ? [
            {
              kind: "agent",
              runId: run_id,
              agent: agent_role ?? "",
              text: response_content,
              streaming: false,
            } as const,
          ]
        : []),
    ]);
}

/** What the person wrote, where the agent was told more. */
function taskIn(metadata: string | null): string | undefined {
  const { task } = JSON.parse(metadata ?? "{}") as { task?: unknown };
  return typeof task === "string" ? task : undefined;
}
