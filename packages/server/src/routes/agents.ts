import { editAgentFile } from "@retinue/core/agents/edit/edit-agent-file";
import type {
  AgentDetail,
  AgentList,
  AgentReview,
  DelegationGraph,
  EditRequest,
  EditResult,
  ReviewRequest,
  SaveRequest,
  SaveResult,
  TryRequest,
  TryResult,
} from "@retinue/core/schema/api/agent";
import type { ServerDesk } from "../desk.ts";
import {
  agentListShape,
  agentName,
  agentText,
  cardShape,
  format,
  formChange,
  graphShape,
  parents,
  reviewShape,
  savedShape,
  scope,
  trialShape,
} from "../http/agent-shapes.ts";
import { type ApiRoute, defineRoute } from "../http/route.ts";
import { anything, flag, oneOf, orNull, shape, text } from "../http/shapes.ts";
import { agentCard, agentList } from "../roster/agent-card.ts";
import {
  type EntryChoice,
  findEntry,
  isEditable,
  type Roster,
  type RosterEntry,
} from "../roster/agent-roster.ts";
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

const choice = { "scope?": oneOf("project", "user", "builtin", "code"), "file?": text };

/** Agents: listed, judged, edited, saved, tried. */
export const agentRoutes: readonly ApiRoute[] = [
  defineRoute({
    method: "get",
    path: "/api/agents",
    summary: "Every definition of the project: in use, disabled, shadowed and broken ones.",
    answer: agentListShape,
    async handle(_request, desk): Promise<AgentList> {
      return agentList(await freshRoster(desk), desk.tools);
    },
  }),
  defineRoute({
    method: "get",
    path: "/api/agents-graph",
    summary: "Who may delegate to whom.",
    answer: graphShape,
    async handle(_request, desk): Promise<DelegationGraph> {
      return delegationGraph((await desk.project.reload()).registry);
    },
  }),
  defineRoute<EntryChoice>({
    method: "get",
    path: "/api/agents/:name",
    summary:
      "One definition with its text and what is known of it; scope and file name a shadowed or broken one.",
    query: shape(choice),
    answer: shape({ card: cardShape, text: orNull(text), hash: orNull(text), review: reviewShape }),
    async handle({ params, query }, desk): Promise<AgentDetail> {
      const roster = await freshRoster(desk);
      const entry = findEntry(roster, params.name ?? "", query);
      const content = readAgentText(entry);
      return {
        card: agentCard(entry, roster, desk.tools),
        text: content,
        hash: content === null ? null : hashText(content),
        review: await reviewAgent(await reviewInput(desk, roster, { text: content, entry })),
      };
    },
  }),
  defineRoute<Record<string, string>, EditRequest>({
    method: "post",
    path: "/api/agents/edit",
    summary: "Writes fields of the form into a text, every other byte of which stays; nothing is saved.",
    body: shape({ text: agentText, format, change: formChange, "name?": agentName }),
    answer: shape({ text }),
    async handle({ body }, { project }): Promise<EditResult> {
      const { known } = project.current();
      const options = { format: body.format, name: body.name, known };
      return { text: await editAgentFile(body.text, body.change, options) };
    },
  }),
  defineRoute<Record<string, string>, ReviewRequest>({
    method: "post",
    path: "/api/agents/review",
    summary: "Judges a text as if it were saved.",
    body: shape({ text: agentText, name: orNull(agentName), "scope?": scope, "parents?": parents }),
    answer: reviewShape,
    async handle({ body }, desk): Promise<AgentReview> {
      const roster = await freshRoster(desk);
      const entry = findReviewed(roster, body);
      return reviewAgent(await reviewInput(desk, roster, { ...body, entry }));
    },
  }),
  defineRoute<Record<string, string>, TryRequest>({
    method: "post",
    path: "/api/agents/try",
    summary: "Tells what would become of a call of an agent; nothing is executed.",
    body: shape({
      "text?": agentText,
      name: orNull(agentName),
      "parents?": parents,
      tool: agentName,
      input: anything,
    }),
    answer: trialShape,
    handle: ({ body }, desk): Promise<TryResult> => tryAgentCall(desk, body),
  }),
  ...savingRoutes(),
];

function savingRoutes(): ApiRoute[] {
  const body = shape({ text: agentText, hash: orNull(text), "scope?": scope });
  const found = (name: string | undefined, query: EntryChoice) => (roster: Roster) =>
    findEntry(roster, name ?? "", query);
  return [
    defineRoute<Record<string, string>, SaveRequest>({
      method: "post",
      path: "/api/agents",
      summary: "Saves a new agent, or a copy that takes the place of a built-in one.",
      body,
      answer: savedShape,
      handle: ({ body: asked }, desk: ServerDesk): Promise<SaveResult> => addAgent(desk, asked),
    }),
    defineRoute<EntryChoice, SaveRequest>({
      method: "put",
      path: "/api/agents/:name",
      summary: "Saves an agent over its file, unless that has changed since.",
      query: shape(choice),
      body,
      answer: savedShape,
      handle: ({ params, query, body: asked }, desk: ServerDesk): Promise<SaveResult> =>
        saveAgent(desk, found(params.name, query), asked),
    }),
    defineRoute<EntryChoice & { hash: string }>({
      method: "delete",
      path: "/api/agents/:name",
      summary: "Removes an agent's file, unless that has changed since.",
      query: shape({ ...choice, hash: text }),
      answer: shape({ done: flag }),
      handle: ({ params, query }, desk: ServerDesk): Promise<{ done: true }> =>
        removeAgent(desk, found(params.name, query), query.hash),
    }),
  ];
}

/** Whose file a text is; a copy of a definition that cannot be edited is a new file. */
function findReviewed(roster: Roster, { name, scope: wanted }: ReviewRequest): RosterEntry | null {
  if (name === null) return null;
  const entry = findEntry(roster, name);
  return wanted !== undefined && !isEditable(entry) ? null : entry;
}
