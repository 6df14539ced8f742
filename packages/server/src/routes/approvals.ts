import { ApprovalDecision, ApprovalList, ApprovalView } from "@retinue/core/schema/api/approval";
import type { Approval } from "@retinue/core/schema/record";
import { digits, oneOf, shape, textWith } from "@retinue/core/schema/shape";
import { ownApproval, readProjectFolder, type ServerDesk } from "../desk.ts";
import { readPageSize } from "../http/paging.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";
import { approvalView } from "../views/approval-view.ts";

const MOST = 200;
/** Where a page begins: behind this question of those that wait, or of those that were answered. */
const CURSOR = textWith({ pattern: "^(waiting|answered):[\\w-]{1,100}$" });

/** What waits for a person, and the answers. */
export const approvalRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/approvals",
    summary:
      "Calls that wait for a person (`open=1`), the oldest first; those that were answered (`open=0`), the last first; else both.",
    query: shape({ "open?": oneOf("0", "1"), "after?": CURSOR, "limit?": digits }),
    answer: ApprovalList,
    async handle({ query: { open, after, limit } }, desk) {
      const most = readPageSize(limit, MOST);
      const { asked, next } = await readPage(desk, { open, after, most });
      return { approvals: await views(desk, asked), next };
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/approvals/:id",
    summary: "One call that waits for a person, or has had the answer.",
    answer: ApprovalView,
    async handle({ params: { id } }, desk) {
      const { approval, session } = await ownApproval(desk, id);
      return approvalView(desk, approval, session);
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/approvals/:id",
    summary: "Answers; a session that was left because of it goes on once nothing else in it waits.",
    body: ApprovalDecision,
    answer: ApprovalView,
    async handle({ params: { id }, body }, desk) {
      await desk.person.answer((await ownApproval(desk, id)).approval, body);
      const { approval, session } = await ownApproval(desk, id);
      return approvalView(desk, approval, session);
    },
  }),
];

type Page = { open: string | undefined; after: string | undefined; most: number };

async function readPage(
  desk: ServerDesk,
  { open, after, most }: Page,
): Promise<{ asked: Approval[]; next: string | null }> {
  const { record } = desk.runtime;
  const [state = open === "0" ? "answered" : "waiting", id] = after?.split(":") ?? [];
  const query = { project: readProjectFolder(desk), limit: most + 1, ...(id !== undefined && { after: id }) };
  const waiting = state === "waiting" ? await record.listApprovals({ ...query, state: "waiting" }) : [];
  if (waiting.length > most) return cut(waiting, most, "waiting");
  if (open === "1") return { asked: waiting, next: null };
  const rest = { ...query, limit: query.limit - waiting.length };
  if (state === "waiting") delete rest.after;
  const all = [...waiting, ...(await record.listApprovals({ state: "answered", ...rest }))];
  return all.length > most
    ? cut(all, most, waiting.length === most ? "waiting" : "answered")
    : { asked: all, next: null };
}

function cut(asked: readonly Approval[], most: number, state: string): { asked: Approval[]; next: string } {
  const shown = asked.slice(0, most);
  return { asked: shown, next: `${state}:${shown.at(-1)?.approvalId ?? ""}` };
}

async function views(desk: ServerDesk, approvals: readonly Approval[]): Promise<ApprovalView[]> {
  const shown = await Promise.all(
    approvals.map(async (approval) => {
      const session = await desk.runtime.record.readSession(approval.sessionId);
      return session ? [await approvalView(desk, approval, session)] : [];
    }),
  );
  return shown.flat();
}
