import { editAgentFile } from "@retinue/core/agents/edit/edit-agent-file";
import {
  AgentDetail,
  AgentList,
  AgentReview,
  DelegationGraph,
  EditRequest,
  EditResult,
  EntryChoice,
  RemoveRequest,
  ReviewRequest,
  SaveRequest,
  SaveResult,
  TryRequest,
  TryResult,
} from "@retinue/core/schema/api/agent";
import { Controlled } from "@retinue/core/schema/api/session";
import { type ApiRoute, defineRoute } from "../http/route.ts";
import { agentCard, agentList } from "../roster/agent-card.ts";
import { findEntry, isEditable, type Roster, type RosterEntry } from "../roster/agent-roster.ts";
import { delegationGraph } from "../roster/delegation-view.ts";
import { reviewAgent } from "../roster/review-agent.ts";
import {
  addAgent,
  freshRoster,
  hashText,
  readAgentText,
  removeAgent,
  reviewInput,
  saveAgent,
} from "../roster/save-agent.ts";
import { tryAgentCall } from "../roster/try-call.ts";

/** Agents: listed, judged, edited, saved, tried. */
export const agentRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/agents",
    summary: "Every definition of the project: in use, disabled, shadowed and broken ones.",
    answer: AgentList,
    async handle(_, desk) {
      return agentList(await freshRoster(desk), desk.tools);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/agents-graph",
    summary: "Who may delegate to whom.",
    answer: DelegationGraph,
    async handle(_, desk) {
      return delegationGraph((await desk.project.reload()).registry);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/agents/:name",
    summary:
      "One definition with its text and what is known of it; scope and file name a shadowed or broken one.",
    query: EntryChoice,
    answer: AgentDetail,
    async handle({ params, query }, desk) {
      const roster = await freshRoster(desk);
      const entry = findEntry(roster, params.name, query);
      const content = readAgentText(entry);
      return {
        card: agentCard(entry, roster, desk.tools),
        text: content,
        hash: content === null ? null : hashText(content),
        review: await reviewAgent(await reviewInput(desk, roster, { text: content, entry })),
      };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/agents/edit",
    summary: "Writes fields of the form into a text, every other byte of which stays; nothing is saved.",
    body: EditRequest,
    answer: EditResult,
    async handle({ body }, { project }) {
      const { known } = project.current();
      const options = { format: body.format, name: body.name, known };
      return { text: await editAgentFile(body.text, body.change, options) };
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/agents/review",
    summary: "Judges a text as if it were saved.",
    body: ReviewRequest,
    answer: AgentReview,
    async handle({ body }, desk) {
      const roster = await freshRoster(desk);
      const entry = findReviewed(roster, body);
      return reviewAgent(await reviewInput(desk, roster, { ...body, entry }));
    },
  }),
  defineRoute({
    method: "post",
    path: "/api/agents/try",
    summary: "Tells what would become of a call of an agent; nothing is executed.",
    body: TryRequest,
    answer: TryResult,
    handle: ({ body }, desk) => tryAgentCall(desk, body),
  }),
  defineRoute({
    method: "post",
    path: "/api/agents",
    summary: "Saves a new agent, or a copy that takes the place of a built-in one.",
    body: SaveRequest,
    answer: SaveResult,
    handle: ({ body }, desk) => addAgent(desk, body),
  }),
  defineRoute({
    method: "put",
    path: "/api/agents/:name",
    summary: "Saves an agent over its file, unless that has changed since.",
    query: EntryChoice,
    body: SaveRequest,
    answer: SaveResult,
    handle: ({ params, query, body }, desk) =>
      saveAgent(desk, (roster) => findEntry(roster, params.name, query), body),
  }),
  defineRoute({
    method: "delete",
    path: "/api/agents/:name",
    summary: "Removes an agent's file, unless that has changed since.",
    query: RemoveRequest,
    answer: Controlled,
    handle: ({ params, query }, desk) =>
      removeAgent(desk, (roster) => findEntry(roster, params.name, query), query.hash),
  }),
];

/** Whose file a text is; a copy of a definition that cannot be edited is a new file. */
function findReviewed(roster: Roster, { name, scope: wanted }: ReviewRequest): RosterEntry | null {
  if (name === null) return null;
  const entry = findEntry(roster, name);
  return wanted !== undefined && !isEditable(entry) ? null : entry;
}
