import { ListChecks, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { useSearchParams } from "wouter";
import type { Started } from "../../../../src/schema/api/session.ts";
import { api } from "../../api/client.ts";
import { useDraft } from "../../live/use-draft.ts";
import { Button } from "../../ui/button.tsx";
import { attempt } from "../../ui/toast.tsx";

const GOAL_MOST = 20_000;

/** Takes a goal and has a plan made for it; the session it is made in goes into the address. */
export function NewPlan() {
  const [goal, setGoal] = useDraft("plan");
  const [isSent, setSent] = useState(false);
  const [, setParams] = useSearchParams();
  const begin = async () => {
    if (goal.trim() === "" || isSent) return;
    setSent(true);
    await attempt(async () => {
      const { sessionId } = await api.post<Pick<Started, "sessionId">>("/api/plans", { goal: goal.trim() });
      setGoal("");
      setParams({ session: sessionId });
    });
    setSent(false);
  };
  return (
    <form
      aria-label="New plan"
      className="mx-auto grid w-full max-w-2xl gap-3 px-4 py-8"
      onSubmit={(event) => {
        event.preventDefault();
        void begin();
      }}
    >
      <div className="flex items-center gap-3">
        <span className="grid size-10 place-items-center rounded-xl bg-raised text-ink-3">
          <ListChecks aria-hidden className="size-5" />
        </span>
        <div>
          <h2 className="text-base font-semibold">What do you want to reach?</h2>
          <p className="text-sm text-ink-2">
            A planner cuts it into steps for agents. You see and change the plan before anything is done.
          </p>
        </div>
      </div>
      <textarea
        aria-label="Goal"
        rows={5}
        maxLength={GOAL_MOST}
        value={goal}
        placeholder="For example: add a --json option to the list command, with tests and documentation"
        onChange={(event) => setGoal(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) void begin();
        }}
        className="rounded-lg border border-line-strong bg-panel px-3 py-2 text-base placeholder:text-ink-3"
      />
      <div className="flex items-center gap-2">
        <Button kind="primary" type="submit" disabled={goal.trim() === "" || isSent}>
          {isSent && <LoaderCircle aria-hidden className="size-3.5 animate-spin" />} Make a plan
        </Button>
        <span className="text-xs text-ink-3">Nothing is carried out yet.</span>
      </div>
    </form>
  );
}
