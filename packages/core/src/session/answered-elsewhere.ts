import type { ApprovalAnswer } from "../run/ports.ts";

/** Why an approver's signal fires although its run goes on: somebody else has answered. */
export class AnsweredElsewhere extends Error {
  readonly answer: ApprovalAnswer;

  constructor(answer: ApprovalAnswer) {
    super(`${answer.allowed ? "allowed" : "denied"} by ${answer.by}`);
    this.name = "AnsweredElsewhere";
    this.answer = answer;
  }
}
