import type { MessageNode } from "../../schema/record.ts";
import type { AnyTool, Roots, Tool } from "../../tools/tool.ts";
import { validateInput } from "../../tools/validate-input.ts";
import type { Session } from "../host.ts";
import { metadataOf, subtreeOf } from "./read-row.ts";

/**
 * Takes in what later calls are judged by: the addresses that recorded runs had from their person, from searches and
 * pages, and from their own calls, and calls that others may build upon.
 */
export async function recallSession(
  session: Pick<Session, "ports"> & Roots,
  roots: readonly MessageNode[],
  tools: ReadonlyMap<string, AnyTool>,
): Promise<void> {
  const { addresses, earlier } = session.ports;
  for (const row of roots.flatMap((root) => [...subtreeOf(root)])) {
    const { task, steered, tool: name, outcome, uncounted, public: isPublic, files } = metadataOf(row);
    if (row.request_type === "prompt") addresses.addTyped(String(task ?? row.request_content ?? ""));
    if (Array.isArray(steered)) for (const text of steered) addresses.addTyped(String(text));
    const tool = tools.get(String(name)) as Tool<unknown> | undefined;
    if (row.request_type !== "tool_call" || outcome === "denied" || uncounted) continue;
    if (!tool?.requests && !tool?.confirm) continue;
    if (tool.requests && isPublic === true) addresses.addShown(row.response_content ?? "");
    const input = await validateInput(tool as AnyTool, row.request_content ?? "");
    if (!input.ok) continue;
    const changed = (files as [path: string, kind: string][] | undefined) ?? [];
    if (tool.confirm)
      earlier.note(
        tool.name,
        input.value,
        changed.map(([path]) => path),
      );
    for (const request of (await tool.requests?.(input.value, session)) ?? []) addresses.addAsked(request);
  }
}
