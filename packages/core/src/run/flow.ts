import type { Ending } from "./build-result.ts";
import type { CallResult } from "./calls/dispatch.ts";
import { tellWhatIsLeft } from "./limits.ts";
import type { Reply, ToolCall } from "./model/read-stream.ts";
import type { LoopPorts } from "./ports.ts";
import type { Run } from "./run.ts";
import { afterAnswer } from "./turns/after-answer.ts";
import { joinAnswer } from "./turns/cut-answer.ts";
import { type GatheredWork, reportGathered } from "./turns/gather-work.ts";
import type { Next } from "./turns/next.ts";

/** How an agent gets from its task to its answer: what a run asks at the points where ways of working differ. */
export type Flow = {
  /** Its conversation may be condensed to make room. */
  readonly condenses: boolean;
  /** Its answer has a form of its own, so the model is asked for no other and the record keeps the data beside the text. */
  readonly hasOwnForm: boolean;
  /** Whatever its tools wrote would be written a second time by another attempt, also what stays inside. */
  readonly actsByWriting: boolean;
  /** Before a turn's request: says what the model must hear, and gives the step that the turn takes; null for a free turn. */
  enterStep(run: Run, ports: LoopPorts): FlowStep | null;
  /** The step in which the reply was asked for that the conversation ends with, of a run that goes on after a crash. */
  findStepOfReply(run: Run): FlowStep | null;
  /** The model made no calls. */
  afterAnswer(run: Run, reply: Reply, ports: LoopPorts): Next | Promise<Next>;
  /** The calls of a turn are answered; `before` is how many had been made before them. */
  afterCalls(run: Run, next: Next, before: number): Next;
  /** What a run leaves that ends without a report. */
  keepWork(run: Run, gathered: GatheredWork): string;
  /** What stands in for the last report of a run whose model gave none; `said` are words of it that are no report. */
  replaceReport(run: Run, gathered: GatheredWork, said: string): string;
  /** The ending as the flow tells it. */
  finish(run: Run, ending: Ending, ports: LoopPorts): Ending;
};

/** One step of a flow, from a request to what follows its reply. */
export type FlowStep = {
  readonly name: string;
  /** Names of the only tools that the model is offered; null if none is even shown. */
  readonly tools: readonly string[] | null;
  /** Whether the model may call what it is offered. */
  readonly mayCall: boolean;
  /** What the row of its model call tells when it opens. */
  describe(ports: LoopPorts): Readonly<Record<string, unknown>>;
  /** What that row tells of the reply. */
  describeReply(run: Run, reply: Reply, ports: LoopPorts): Readonly<Record<string, unknown>>;
  /** Answers a call, by making it or not. */
  answerCall(
    call: ToolCall,
    make: (call: ToolCall) => Promise<CallResult>,
    run: Run,
    ports: LoopPorts,
  ): Promise<CallResult>;
};

/** The free loop: the model calls tools until it answers without. */
export const loopFlow: Flow = {
  condenses: true,
  hasOwnForm: false,
  actsByWriting: false,
  enterStep: () => null,
  findStepOfReply: () => null,
  afterAnswer,
  afterCalls(run, next, before) {
    if (next.kind === "turn") tellWhatIsLeft(run, before);
    return next;
  },
  keepWork: (run, gathered) =>
    run.cutAnswer.length > 0
      ? joinAnswer([...run.cutAnswer, run.brokenOff])
      : reportGathered(gathered, run.brokenOff),
  replaceReport: (_, gathered, said) => reportGathered(gathered, said),
  finish: (_, ending) => ending,
};
