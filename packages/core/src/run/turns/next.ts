import type { BailoutReason, RunError } from "../../schema/result.ts";
import type { Ending } from "../build-result.ts";
import { lastText } from "../history.ts";
import type { Run } from "../run.ts";
import { keepWork } from "./gather-work.ts";

/** What a finished turn leads to. */
export type Next =
  | { kind: "turn" }
  | { kind: "wrap_up"; reason: BailoutReason }
  | { kind: "end"; ending: Ending };

export const NEXT_TURN: Next = { kind: "turn" };

/** How a run ends that was stopped from outside. */
export function interrupted(run: Run): Ending {
  const { status, bailout, message } = run.interruption ?? {
    status: "cancelled",
    bailout: "cancelled",
    message: "stopped",
  };
  return {
    status,
    text: status === "cancelled" ? lastText(run) : keepWork(run),
    partial: true,
    bailout,
    error: { type: status, message, recoverable: false },
  };
}

/** Ends a run with an error. */
export function fail(text: string, type: RunError["type"], message: string): Next {
  return {
    kind: "end",
    ending: {
      status: "failed",
      text,
      bailout: "error",
      error: { type, message, recoverable: type === "bad_response" },
    },
  };
}
