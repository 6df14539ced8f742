import { parseAgentFile } from "../../agents/parse-agent-file.ts";
import type { PermissionMode } from "../../runtime/approvals.ts";
import type { TryRequest, TryResult } from "../../schema/api/agent.ts";
import { RetinueError } from "../../schema/error.ts";
import type { Desk } from "../desk.ts";
import { findEntry } from "./agent-roster.ts";
import { parentNamed } from "./review-agent.ts";
import { reviewedRegistry } from "./reviewed-registry.ts";
import { freshRoster, reviewInput, type SaveDesk } from "./save-agent.ts";
import { tryCall } from "./try-call.ts";

/** Tries a call of an agent as it is, or as a text that is not saved would make it. */
export async function tryAgentCall(
  desk: SaveDesk & Pick<Desk, "tools">,
  request: TryRequest,
): Promise<TryResult> {
  const roster = await freshRoster(desk);
  const { project, projectDir } = roster;
  const entry = request.name === null ? null : findEntry(roster, request.name);
  const { path, scope } = await reviewInput(desk, roster, { text: request.text ?? null, entry });
  const format = entry?.source.format ?? "native";
  const options = { file: path, format, scope, known: project.known };
  const parsed =
    request.text === undefined
      ? { agent: entry?.agent, problems: entry?.problems ?? [] }
      : await parseAgentFile(request.text, options);
  const { agent } = parsed;
  if (!agent) {
    const error = parsed.problems.find(({ severity }) => severity === "error");
    throw new RetinueError(
      "input",
      `no call can be tried: ${error?.message ?? "there is no agent"}`,
      error?.fix ?? "name an agent, or give its text",
    );
  }
  const registry =
    request.text === undefined ? project.registry : reviewedRegistry(project, projectDir, { path, agent });
  const line = [...(request.parents ?? []).map((name) => parentNamed(name, registry)), agent];
  return tryCall({
    project,
    projectDir,
    registry,
    tools: desk.tools,
    mode: desk.permissionMode as PermissionMode,
    line,
    tool: request.tool,
    input: request.input,
  });
}
