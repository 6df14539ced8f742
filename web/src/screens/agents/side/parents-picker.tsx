import { useEffect, useMemo } from "react";
import { useAgents } from "../../../api/queries.ts";
import { AgentMark } from "../../../ui/face.tsx";
import { NamePicker } from "../controls/name-picker.tsx";
import { useParam } from "../controls/use-param.ts";
import { useDraft } from "../draft/use-draft.tsx";

/** Below which agents the rights are shown: a parent can only narrow them. */
export function ParentsPicker() {
  const draft = useDraft();
  const { data } = useAgents();
  const [below, setBelow] = useParam("below");
  const parents = useMemo(() => below.split(",").filter(Boolean), [below]);
  useEffect(() => draft.below(parents), [draft, parents]);
  const names = (data?.agents ?? []).filter(({ state }) => state === "enabled").map(({ name }) => name);
  return (
    <NamePicker
      label="Below these parents, the outermost first"
      names={parents}
      choices={names}
      lookOf={(name) => ({ mark: <AgentMark name={name} size="sm" /> })}
      placeholder={parents.length === 0 ? "None: as the first agent of a session" : "Add a parent"}
      onChange={(chosen) => setBelow(chosen.join(","))}
    />
  );
}
