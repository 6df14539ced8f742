import { assess } from "../assess.ts";
import { type Domain, isWrite } from "../assessment.ts";
import { reservationIn } from "../slots/cautions.ts";
import { messageText } from "../slots/message-text.ts";
import { readRequest } from "../slots/request.ts";
import type { Now } from "../slots/when.ts";
import type { Findings } from "./findings.ts";
import { type Part, splitParts } from "./split-parts.ts";
import { isInvitation, type Occasion, type WriteTask, writeTasks } from "./write-tasks.ts";

/** One delegation of a plan. */
export type Task = {
  readonly id: string;
  readonly agent: Domain;
  readonly task: string;
  /** Ids of tasks that must succeed first. */
  readonly dependsOn?: readonly string[];
};

/** A request in two stages: what is looked up, all at once, and what is then done with it. */
export type RequestPlan = {
  readonly parts: readonly Part[];
  readonly reads: readonly Task[];
  readonly writes: readonly Part[];
  readonly occasion: Occasion;
};

const WRITING =
  /^(?:send|e-?mail|mail|post|tell|share|announce|schedule|book|set up|arrange|create|draft|reply|respond|let|add|cancel|delete|move|reschedule|push|postpone|rename|ping|notify|write|put|invite|forward|drop|shoot|fire off|block|pencil|grab|squeeze|remind|remove|scrap|change|update|message|dm)\b/i;
/** Where the prompt names no time, any will do: only whether a request can be read is asked, not when. */
const ANY_TIME: Now = { now: "2000-01-01T00:00:00+00:00" };

/** Splits a request into what is read first and what is written then. */
export function planRequest(text: string): RequestPlan {
  const parts = splitParts(text);
  const isWriting = (part: Part) => WRITING.test(part.text) || plansWrite(part);
  const reads = parts.filter((part) => part.domain !== undefined && !isWriting(part));
  const writes = parts.filter((part) => !reads.includes(part));
  return {
    parts,
    reads: reads.map((part, index) => ({
      id: `read-${index + 1}`,
      agent: part.domain ?? "email",
      task: readTask(part),
    })),
    writes,
    occasion: { title: titleFor(text), hasInvitation: parts.some(isInvitation) },
  };
}

/** The tasks of the second stage, and why parts cannot be done: a request of several parts is not begun if one is in doubt. */
export function secondStage(
  plan: RequestPlan,
  findings: Findings,
  at: Now = ANY_TIME,
): { tasks: Task[]; cannot: string[] } {
  const { writes, reads, occasion, parts } = plan;
  const [only] = writes;
  if (parts.length === 1 && only?.domain && !occasion.hasInvitation)
    return { tasks: [{ id: "write-1", agent: only.domain, task: only.text }], cannot: [] };
  const isAlone = reads.length === 0 && !occasion.hasInvitation;
  const all: WriteTask[] = writes.flatMap((part) =>
    isAlone && part.domain ? [{ agent: part.domain, task: part.text }] : writeTasks(part, findings, occasion),
  );
  const tasks = inOrder(all);
  const doubts = tasks.flatMap(({ agent, task }) => {
    const { status, notes } = assess(agent, task, at);
    return status === "failed" ? [`“${task}”: ${notes}`] : [];
  });
  const open = writes.length > 0 ? parts.map(reservationOf).find((why) => why !== undefined) : undefined;
  const cannot = all.flatMap((one) => ("cannot" in one ? [one.cannot] : []));
  return { tasks, cannot: [...(open ? [open] : []), ...cannot, ...doubts] };
}

/** Nobody is told of an event that could not be made. */
function inOrder(all: readonly WriteTask[]): Task[] {
  const made = all.findIndex((one) => "event" in one && one.event === "made");
  return all.flatMap((one, index) => {
    if ("cannot" in one) return [];
    const { agent, task, event } = one;
    const waits = event === "told" && made >= 0 && { dependsOn: [`write-${made + 1}`] };
    return [{ id: `write-${index + 1}`, agent, task, ...waits }];
  });
}

function reservationOf({ text }: Part): string | undefined {
  return reservationIn(messageText(readRequest(text)).head)?.why;
}

function plansWrite({ text, domain }: Part): boolean {
  return domain !== undefined && assess(domain, text, ANY_TIME).tools.some(isWrite);
}

/** Short forms that make sense only beside the other parts, written out. */
function readTask({ text, domain }: Part): string {
  const time =
    domain === "calendar"
      ? /^(?:check|see)(?: if)?(?: (?:for|on))? (?!.*\b(?:availab|free|calendar|events?|meetings?))(.+)$/i.exec(
          text,
        )?.[1]
      : undefined;
  return time ? `Check my availability on ${time.replace(/^on /i, "")}` : text;
}

/** What an event is called that a request does not name: after those it is with. */
function titleFor(text: string): string {
  const named =
    /\binvite\b[^"“.]*? (?:to|for) (?:an? |the )?(?:meeting |event |call )?["“]([^"”]+)["”]/i.exec(text)?.[1];
  if (named) return named;
  const whose =
    /(\p{Lu}[\p{L}\p{N}&-]*(?: \p{Lu}[\p{L}\p{N}&-]*)*)['’]s? (?:people|staff|team|contacts|folks)\b|\b(?:people|everyone|contacts|folks|staff) (?:at|from|of) (\p{Lu}[\p{L}\p{N}&-]*(?: \p{Lu}[\p{L}\p{N}&-]*)*)/u.exec(
      readRequest(text).head,
    );
  const name = whose?.[1] ?? whose?.[2];
  return name ? `Meeting with ${name}` : "Meeting";
}
