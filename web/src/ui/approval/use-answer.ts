import { useMutation } from "@tanstack/react-query";
import type { ApprovalDecision } from "../../../../src/schema/api/approval.ts";
import { ApiFailure, api } from "../../api/client.ts";
import { renew } from "../../api/queries.ts";
import { tell, tellFailure } from "../toast.tsx";

/** What a person can say to a call. */
export type Answer = "once" | "run" | "deny";

/** The answer as the server takes it. */
export function decisionOf(answer: Answer, note: string): ApprovalDecision {
  if (answer !== "deny") return { allowed: true, scope: answer };
  return { allowed: false, ...(note.trim() !== "" && { note: note.trim() }) };
}

/** Sends answers to one question. `onDone` comes after the server has taken it. */
export function useAnswer(approvalId: string, onDone?: (answer: Answer) => void) {
  return useMutation({
    mutationFn: ({ answer, note }: { answer: Answer; note: string }) =>
      api.post(`/api/approvals/${encodeURIComponent(approvalId)}`, decisionOf(answer, note)),
    onSuccess: (_, { answer }) => {
      tell(answer === "deny" ? "Denied." : answer === "run" ? "Allowed for this run." : "Allowed once.");
      onDone?.(answer);
    },
    onError: (failure) => {
      if (failure instanceof ApiFailure && failure.status === 409) tell(failure.message);
      else tellFailure(failure);
    },
    onSettled: () => renew({ queryKey: ["approvals"] }),
  });
}
