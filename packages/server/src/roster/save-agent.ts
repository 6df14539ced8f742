import { createHash } from "node:crypto";
import { lstat, mkdir, unlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { findAgentFolder } from "@retinue/builtin/load-project";
import { parseAgentFile } from "@retinue/core/agents/parse-agent-file";
import { readText } from "@retinue/core/agents/read-text";
import { PathRefused, writeInside } from "@retinue/core/files/open-inside";
import { replaceFile } from "@retinue/core/files/replace-file";
import type { AgentReview, SaveRequest, SaveResult } from "@retinue/core/schema/api/agent";
import { messageOf, RetinueError } from "@retinue/core/schema/error";
import type { PermissionMode } from "@retinue/core/schema/rights";
import type { ServerDesk } from "../desk.ts";
import { Conflict } from "../http/http-errors.ts";
import {
  type Roster,
  type RosterEntry,
  readRoster,
  realPlace,
  shownPath,
  whyNotWritable,
} from "./agent-roster.ts";
import { fileName, type ReviewInput, reviewAgent } from "./review-agent.ts";

/** What saving needs of the server. */
export type SaveDesk = Pick<ServerDesk, "project" | "tools" | "feeds" | "permissionMode">;

/** One save after the other, so that what was compared is what is replaced. */
let last: Promise<unknown> = Promise.resolve();

function inTurn<Value>(work: () => Promise<Value>): Promise<Value> {
  const next = last.then(work);
  last = next.catch(() => {});
  return next;
}

/** The name of one state of a file. */
export function hashText(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The roster of the project as it is on disk now. */
export async function freshRoster({ project }: Pick<ServerDesk, "project">): Promise<Roster> {
  return readRoster(await project.reload(), project.projectDir);
}

/** The text of a definition's file; null for one that is in no file. */
export function readAgentText({ source, name }: RosterEntry): string | null {
  if (source.file === undefined || source.format === "settings" || source.format === "code") return null;
  const read = readText(source.file);
  if ("text" in read) return read.text;
  throw new RetinueError(
    "input",
    `the file of '${name}' cannot be shown: ${read.problem.message}`,
    read.problem.fix,
  );
}

/** What a review of a file needs; a new one goes into the folder of its scope. */
export async function reviewInput(
  desk: SaveDesk,
  roster: Roster,
  asked: {
    text: string | null;
    entry: RosterEntry | null;
    scope?: "project" | "user" | undefined;
    parents?: readonly string[] | undefined;
  },
): Promise<ReviewInput> {
  const { text, entry, scope = "project", parents = [] } = asked;
  const mode = desk.permissionMode as PermissionMode;
  const common = { roster, tools: desk.tools, mode, text, entry, parents };
  if (entry !== null)
    return {
      ...common,
      path: entry.source.file ?? "code",
      scope: entry.source.scope,
      onDisk: readAgentText(entry),
    };
  const { project, projectDir } = roster;
  const folder = findAgentFolder(project, projectDir, scope);
  const options = {
    file: join(folder, fileName(undefined)),
    format: "native",
    scope,
    known: project.known,
  } as const;
  const { agent } = await parseAgentFile(text ?? "", options);
  return { ...common, path: join(folder, fileName(agent?.name)), scope, onDisk: null };
}

/** Saves a definition over the file it came from. */
export function saveAgent(
  desk: SaveDesk,
  find: (roster: Roster) => RosterEntry,
  request: SaveRequest,
): Promise<SaveResult> {
  return inTurn(async () => {
    const roster = await freshRoster(desk);
    const entry = find(roster);
    const input = await reviewInput(desk, roster, { text: request.text, entry });
    if (input.onDisk !== null) refuseOtherState(input, request.hash);
    const review = await reviewAgent(input);
    refuse(review);
    // An editor may have saved the file while this text was judged.
    if (input.onDisk !== null) refuseOtherState({ ...input, onDisk: readAgentText(entry) }, request.hash);
    await attempt(async () => replaceFile(await realPlace(input.path), request.text), input);
    return told(desk, input, review);
  });
}

/** Saves a definition as a new file, named after its agent. */
export function addAgent(desk: SaveDesk, request: SaveRequest): Promise<SaveResult> {
  return inTurn(async () => {
    const { text, scope = "project", hash } = request;
    if (hash !== null) throw new Conflict("a new agent has no earlier state", "give null as its hash");
    const roster = await freshRoster(desk);
    const input = await reviewInput(desk, roster, { text, entry: null, scope });
    const isThere = await lstat(input.path).catch(() => null);
    if (isThere)
      throw new Conflict(
        `${shownPath(input.path, roster.projectDir)} is there already`,
        "choose another name",
      );
    const review = await reviewAgent(input);
    refuse(review);
    const root = scope === "project" ? roster.projectDir : roster.project.places.configDir;
    await attempt(async () => {
      if (scope === "user") await mkdir(root, { recursive: true });
      const real = await realPlace(root);
      await writeInside(real, join(real, relative(root, input.path)), text);
    }, input);
    return told(desk, input, review);
  });
}

/** Removes a definition's file, and nothing else. */
export function removeAgent(
  desk: SaveDesk,
  find: (roster: Roster) => RosterEntry,
  hash: string,
): Promise<{ done: true }> {
  return inTurn(async () => {
    const roster = await freshRoster(desk);
    const entry = find(roster);
    const input = await reviewInput(desk, roster, { text: readAgentText(entry) ?? "", entry });
    const why = await whyNotWritable(input);
    if (why.length > 0)
      throw new RetinueError("denied", why.join(" "), "only files of the agent folders can be removed here");
    refuseOtherState(input, hash);
    await attempt(() => unlink(input.path), input);
    await told(desk, input, { form: null, diff: "" });
    return { done: true };
  });
}

function refuseOtherState({ onDisk, path, roster }: ReviewInput, hash: string | null): void {
  if (onDisk !== null && hashText(onDisk) === hash) return;
  const shown = shownPath(path, roster.projectDir);
  throw new Conflict(`${shown} has changed since it was opened`, "load it again and make the change anew");
}

function refuse({ refusals }: AgentReview): void {
  if (refusals.length === 0) return;
  throw new RetinueError(
    "input",
    `it cannot be saved: ${refusals.join(" ")}`,
    "correct the text, then save again",
  );
}

async function attempt(work: () => Promise<unknown>, { path, roster }: ReviewInput): Promise<void> {
  const shown = shownPath(path, roster.projectDir);
  await work().catch((thrown: unknown) => {
    if (thrown instanceof PathRefused)
      throw new RetinueError(
        "denied",
        `${shown} cannot be written: ${thrown.message}`,
        "remove the link, or edit the file where it really lies",
      );
    throw new RetinueError(
      "input",
      `${shown} cannot be written: ${messageOf(thrown)}`,
      "check its folder and its rights",
    );
  });
}

async function told(
  desk: SaveDesk,
  { path, text, roster }: ReviewInput,
  { form, diff }: Pick<AgentReview, "form" | "diff">,
): Promise<SaveResult> {
  await desk.project.reload();
  desk.feeds.agentsChanged();
  return {
    name: form?.name ?? "",
    file: shownPath(path, roster.projectDir),
    hash: hashText(text ?? ""),
    diff,
  };
}
