import { readTree } from "../record/read-tree.ts";
import type { Record } from "../record/record.ts";
import type { ToolCall } from "../run/model/reply.ts";
import { heldPrivateData, metadataOf, subtreeOf } from "../run/read-row.ts";
import type { Host, Session } from "../run/run.ts";
import type { MessageNode } from "../schema/record.ts";
import { validateInput } from "../tools/validate-input.ts";

/** What of a session its earlier runs are recalled into. */
type Recalling = Pick<Session, "addresses" | "earlier"> & { host: Pick<Host, "tools"> };

/**
 * Takes in what later calls are judged by: the addresses that recorded runs had from their person, from outside, and from
 * their own calls as far as those were allowed, and calls that others may build upon. Of addresses only those count that a
 * row names as such: its input and its answer are what the run and the tool said.
 */
export async function recallSession(session: Recalling, roots: readonly MessageNode[]): Promise<void> {
  const { addresses, earlier, host } = session;
  for (const row of roots.flatMap((root) => [...subtreeOf(root)])) {
    const { task, steered, tool: name, outcome, uncounted, requested, shown, files } = metadataOf(row);
    if (row.request_type === "prompt") addresses.addTyped(String(task ?? row.request_content ?? ""));
    if (Array.isArray(steered)) for (const text of steered) addresses.addTyped(String(text));
    const { free = [], carrying = [] } = (requested as ToolCall["requested"]) ?? {};
    addresses.add(free, false);
    addresses.add(carrying, true);
    addresses.add((shown as readonly string[] | undefined) ?? [], carrying.length > 0);
    const tool = host.tools.get(String(name));
    if (row.request_type !== "tool_call" || outcome === "denied" || uncounted || !tool?.confirm) continue;
    const input = await validateInput(tool, row.request_content ?? "");
    if (!input.ok) continue;
    const changed = (files as [path: string, kind: string][] | undefined) ?? [];
    earlier.note(
      tool.name,
      input.value,
      changed.map(([path]) => path),
    );
  }
}

/**
 * Whether text of the project had entered a recorded session. Of records from before that was kept it is taken from what
 * its runs read, and of one that was removed nobody knows.
 */
export async function hadProjectText(record: Record, sessionId: string): Promise<boolean> {
  const row = await record.readSession(sessionId);
  if (!row) return true;
  const { projectText } = JSON.parse(row.metadata_json ?? "{}") as { projectText?: boolean };
  return projectText ?? (await readTree(record, sessionId)).some(heldPrivateData);
}
