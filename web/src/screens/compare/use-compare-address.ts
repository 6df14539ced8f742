import { useSearchParams } from "wouter";

/** How the two answers are shown: beside each other, or as one text in which words or lines are marked. */
export const ANSWER_VIEWS = ["beside", "words", "lines"] as const;
export type AnswerView = (typeof ANSWER_VIEWS)[number];

/** What is compared and how it is looked at, which lives in the address. */
export function useCompareAddress() {
  const [params, setParams] = useSearchParams();
  const set = (changes: Readonly<Record<string, string>>) =>
    setParams(
      (before) => {
        const after = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value === "") after.delete(name);
          else after.set(name, value);
        }
        return after;
      },
      { replace: true },
    );
  const a = params.get("a") ?? "";
  const b = params.get("b") ?? "";
  const view = params.get("answers");
  return {
    a,
    b,
    swap: () => set({ a: b, b: a }),
    /** Runs that are the same on both sides are left out. */
    isOnlyDifferent: params.get("runs") === "differences",
    showRuns: (which: "all" | "differences") => set({ runs: which === "all" ? "" : which }),
    answerView: ANSWER_VIEWS.find((one) => one === view) ?? "beside",
    showAnswers: (which: AnswerView) => set({ answers: which === "beside" ? "" : which }),
    /** Which of several prompts the answers are of, from 1; null for the last one. */
    prompt: Number(params.get("prompt")) || null,
    showPrompt: (prompt: number) => set({ prompt: String(prompt) }),
  };
}
