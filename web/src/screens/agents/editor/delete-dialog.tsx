import { useState } from "react";
import { useLocation } from "wouter";
import type { AgentCard } from "../../../../../src/schema/api/agent.ts";
import { api, withQuery } from "../../../api/client.ts";
import { queryClient, renew, useAgents } from "../../../api/queries.ts";
import { Button } from "../../../ui/button.tsx";
import { Dialog } from "../../../ui/dialog.tsx";
import { attempt, tell } from "../../../ui/toast.tsx";
import { forgetDraft } from "../draft/stored-drafts.ts";
import { useDraft } from "../draft/use-draft.tsx";

/** Asks before an agent's file is removed, and says what that leaves behind. */
export function DeleteDialog({
  card,
  open,
  onClose,
}: {
  card: AgentCard;
  open: boolean;
  onClose: () => void;
}) {
  const draft = useDraft();
  const [, go] = useLocation();
  const { data } = useAgents();
  const [isBusy, setIsBusy] = useState(false);
  const users = data?.agents.filter(({ subagents }) => subagents?.includes(card.name)) ?? [];
  const next = data?.agents.find(({ name, state }) => name === card.name && state === "shadowed");
  const remove = async () => {
    setIsBusy(true);
    const isDone = await attempt(() =>
      api.delete(
        withQuery(`/api/agents/${encodeURIComponent(card.name)}`, { hash: draft.saved.value.hash ?? "" }),
      ),
    );
    setIsBusy(false);
    if (!isDone) return;
    forgetDraft(card.name);
    tell(`Deleted ${card.file}`);
    go("/agents");
    queryClient.removeQueries({ queryKey: ["agents", "one", card.name] });
    void renew({ queryKey: ["agents"] });
  };
  return (
    <Dialog open={open} onClose={onClose} title={`Delete ${card.displayName}?`}>
      <div className="grid gap-3 text-sm">
        <p className="wrap-anywhere">
          This removes the file <code className="font-mono text-xs">{card.file}</code>. It cannot be undone
          here.
        </p>
        {next && (
          <p className="text-ink-2">The agent of that name in {next.file ?? "the code"} is used again.</p>
        )}
        {!next && users.length > 0 && (
          <p className="text-warn">
            These agents name it and will not find it: {users.map(({ name }) => name).join(", ")}.
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Keep it</Button>
          <Button kind="danger" disabled={isBusy} onClick={() => void remove()}>
            Delete
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
