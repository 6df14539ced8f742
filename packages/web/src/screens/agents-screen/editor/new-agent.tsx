import { useId, useState } from "react";
import { useAgents } from "../../../data/queries.ts";
import { ChoiceField } from "../../../ui/choosers.tsx";
import { Button, submitWith } from "../../../ui/controls.tsx";
import { TextField } from "../../../ui/fields.tsx";
import { ScreenHead } from "../../../ui/screen-head.tsx";
import { EditedAgent, forgetDraft, type StoredDraft, storeDraft, storedDraft } from "../agent-draft.ts";
import { DraftEditor } from "./editor-body.tsx";
import { SaveButton } from "./saving.tsx";

/** An agent that does not exist yet: a few questions, then the editor. */
export function NewAgent() {
  const [begun, setBegun] = useState(() => storedDraft(null));
  const begin = (draft: StoredDraft | null) => {
    if (draft) storeDraft(null, draft);
    else forgetDraft(null);
    setBegun(draft);
  };
  if (begun) return <NewEditor begun={begun} onDiscard={() => begin(null)} />;
  return (
    <>
      <ScreenHead title="New agent" />
      <div className="min-h-0 overflow-auto">
        <Questions onBegin={begin} />
      </div>
    </>
  );
}

function Questions({ onBegin }: { onBegin: (draft: StoredDraft) => void }) {
  const id = useId();
  const { data } = useAgents();
  const [name, setName] = useState("");
  const [description, setDescription] = useState("");
  const [scope, setScope] = useState<"project" | "user">("project");
  const [isAsked, setIsAsked] = useState(false);
  const taken = data?.agents.find((agent) => agent.name === name && agent.state !== "shadowed");
  const faults = {
    name: nameFault(name, taken?.scope === scope),
    description: description.trim() === "" ? "Say when to delegate to it: others choose it by this." : null,
  };
  const folders = data?.folders ?? [];
  const begin = () => {
    setIsAsked(true);
    if (faults.name === null && faults.description === null) {
      onBegin({ text: firstText(name, description.trim()), hash: null, scope });
    }
  };
  return (
    <form aria-labelledby={id} className="grid max-w-xl gap-4 p-4" onSubmit={submitWith(begin)}>
      <p id={id} className="text-sm text-ink-2">
        It begins with tools that only read. Everything can be changed before anything is saved.
      </p>
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        mono
        placeholder="release-writer"
        hint={
          taken && taken.scope !== scope
            ? `There is one of this name (${taken.file ?? taken.scope}); the project's comes before yours, both before a built-in one.`
            : "Lower-case letters, digits, - and _. Others address it by this."
        }
        fault={isAsked || taken ? faults.name : null}
      />
      <TextField
        label="Description"
        value={description}
        onChange={setDescription}
        area="min-h-16"
        placeholder="Writes the notes of a release from its commits."
        hint="When to delegate to it."
        fault={isAsked ? faults.description : null}
      />
      <ChoiceField
        label="Where"
        value={scope}
        onChange={setScope}
        options={(["project", "user"] as const).map((value) => ({
          value,
          label: value === "project" ? "This project" : "All your projects",
          about: folders.find((folder) => folder.scope === value)?.path ?? "",
        }))}
      />
      <div>
        <Button kind="primary" type="submit">
          Continue
        </Button>
      </div>
    </form>
  );
}

function nameFault(name: string, isTaken: boolean): string | null {
  if (name === "") return "It needs a name.";
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) return "Only a-z, 0-9, - and _, at most 64 of them.";
  if (name === "new") return "This word is the address of this page; choose another.";
  return isTaken ? "There is already one of this name there." : null;
}

function NewEditor({ begun, onDiscard }: { begun: StoredDraft; onDiscard: () => void }) {
  const [draft] = useState(
    () => new EditedAgent({ name: null, file: { text: "", hash: null }, review: null, stored: begun }),
  );
  return (
    <DraftEditor
      draft={draft}
      head={(save) => (
        <ScreenHead title="New agent" about="Not saved yet.">
          <Button onClick={onDiscard}>Discard</Button>
          <SaveButton onSave={save} />
        </ScreenHead>
      )}
    />
  );
}

/** A file to begin with: tools that only read, and limits that end a run that goes astray. */
function firstText(name: string, description: string): string {
  // A string of JSON is one of YAML too, whatever it holds.
  return `---
name: ${name}
description: ${JSON.stringify(description)}
tools: [read, glob, grep]
limits: { turns: 20, minutes: 5 }
---
You work on one task. Read what it needs, and change nothing.

Report what you found, with file and line for everything you point to.
`;
}
