import type { ApprovalDecision, ApprovalList, ApprovalView } from "../../schema/api/approval.ts";
import type { Approval } from "../../schema/record.ts";
import { approvalShape } from "../api/inspect-shapes.ts";
import { defineRoute, type Route } from "../api/route.ts";
import { flag, list, oneOf, shape } from "../api/shapes.ts";
import type { Desk } from "../desk.ts";
import { ownApproval, projectOf } from "../own-project.ts";
import { approvalView } from "../views/approval-view.ts";
import { openAsks } from "../views/count-asks.ts";

const MOST = 200;
const MOST_LOOKED_AT = 2_000;

/** What waits for a person, and the answers. */
export const approvalRoutes: readonly Route[] = [
  defineRoute<{ open?: string }>({
    method: "get",
    path: "/api/approvals",
    summary: "Calls that wait for a person, the oldest first; without `open` also those that were answered.",
    query: shape({ "open?": oneOf("0", "1") }),
    answer: shape({ approvals: list(approvalShape) }),
    async handle({ query }, desk): Promise<ApprovalList> {
      const asked = query.open === "1" ? openAsks(desk.runtime.store, projectOf(desk)) : allAsked(desk);
      return { approvals: await views(desk, asked.slice(0, MOST)) };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/approvals/:id",
    summary: "One call that waits for a person, or has had the answer.",
    answer: approvalShape,
    handle({ params: { id = "" } }, desk): Promise<ApprovalView> {
      const { approval, session } = ownApproval(desk, id);
      return approvalView(desk, approval, session);
    },
  }),
  defineRoute<Record<string, never>, ApprovalDecision>({
    method: "post",
    path: "/api/approvals/:id",
    summary: "Answers; a session that was left because of it goes on once nothing else in it waits.",
    body: shape({
      allowed: flag,
      "scope?": oneOf("once", "run"),
      "note?": { type: "string", maxLength: 2_000 },
    }),
    answer: approvalShape,
    async handle({ params: { id = "" }, body }, desk): Promise<ApprovalView> {
      ownApproval(desk, id);
      await desk.person.answer(id, body);
      const { approval, session } = ownApproval(desk, id);
      return approvalView(desk, approval, session);
    },
  }),
];

/** Open ones first, then the latest answers. */
function allAsked(desk: Desk): Approval[] {
  const { store } = desk.runtime;
  const project = projectOf(desk);
  const isOwn = ({ sessionId }: Approval) => store.session(sessionId)?.project === project;
  return [...openAsks(store, project), ...store.answeredApprovals(MOST_LOOKED_AT).filter(isOwn)];
}

function views(desk: Desk, approvals: readonly Approval[]): Promise<ApprovalView[]> {
  return Promise.all(
    approvals.flatMap((approval) => {
      const session = desk.runtime.store.session(approval.sessionId);
      return session ? [approvalView(desk, approval, session)] : [];
    }),
  );
}
