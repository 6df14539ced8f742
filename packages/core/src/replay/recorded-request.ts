import type { ProfileSnapshot } from "../delegate/profile.ts";
import type { Approver } from "../host/approvals.ts";
import { metadataOf, subtreeOf } from "../run/read-row.ts";
import type { Deliverable, Limits } from "../schema/agent.ts";
import type { MessageNode } from "../schema/record.ts";
import type { Layer } from "../schema/rights.ts";
import type { RootRequest } from "../session/root-run.ts";
import { parseJson } from "../tools/validate-input.ts";
import type { RecordedSession } from "./recorded-session.ts";

/** What a root run was asked for: everything that came with the task and not from its agent. */
export function readRootRequest(root: MessageNode, recorded: RecordedSession): RootRequest {
  const {
    task,
    limits,
    deliverables = [],
    conducted,
    tainted,
    privateData,
    told,
  } = metadataOf(root) as Asked;
  const snapshot = snapshotOf(root, recorded);
  const agent = root.agent_role ?? "";
  const request: RootRequest = { agent, task: task ?? root.request_content ?? "" };
  if (limits) request.limits = limits;
  if (tainted) request.tainted = tainted;
  if (told !== undefined) request.told = told;
  if (privateData) request.privateData = privateData;
  if (!snapshot) return request;
  const narrowing = snapshot.chain.find((layer) => layer.name === `delegation to ${agent}`);
  if (narrowing) request.tools = textsOf(narrowing.allow);
  if (snapshot.model !== snapshot.agent.model) request.model = snapshot.model;
  request.deliverables = deliverables.slice(snapshot.agent.deliverables.length);
  // An agent that the host fitted to a plan stands in no file.
  if (conducted) request.leader = snapshot.agent;
  if (conducted?.kind === "program") request.program = null;
  return request;
}

type Asked = {
  task?: string;
  limits?: Limits;
  deliverables?: readonly Deliverable[];
  conducted?: { kind?: unknown };
  tainted?: true;
  told?: string;
  privateData?: true;
};

/** What the flags of a session took away. */
export function flagsOf(
  root: MessageNode,
  recorded: RecordedSession,
): { disallowedTools: readonly string[] } {
  const layer = snapshotOf(root, recorded)?.chain.find(({ name }) => name === "session");
  const denied = (layer?.deny ?? []).filter(
    (rule) => rule.mode === undefined && rule.text !== "read-only session",
  );
  return { disallowedTools: textsOf(denied) };
}

/** A person's word is as recorded: who approved a call then approves it now. */
export function approvalsIn(roots: readonly MessageNode[]): Approver {
  const approved = new Map<string, string>();
  for (const row of roots.flatMap((root) => [...subtreeOf(root)])) {
    const { tool, approvedBy } = metadataOf(row);
    const input = parseJson(row.request_content ?? "{}");
    if (typeof approvedBy === "string" && input.ok)
      approved.set(`${String(tool)} ${JSON.stringify(input.value)}`, approvedBy);
  }
  return async ({ tool, input }) => {
    const by = approved.get(`${tool} ${JSON.stringify(input)}`);
    return by === undefined ? { allowed: false, by: "nobody", note: "as recorded" } : { allowed: true, by };
  };
}

function snapshotOf(root: MessageNode, recorded: RecordedSession): ProfileSnapshot | undefined {
  const kept = recorded.text(metadataOf(root).snapshot);
  return kept === undefined ? undefined : (JSON.parse(kept) as ProfileSnapshot);
}

function textsOf(rules: Layer["allow"] = []): string[] {
  return rules.map((rule) => rule.text);
}
