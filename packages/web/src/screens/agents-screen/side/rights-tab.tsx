import type { AgentReview, RightsRow } from "@retinue/core/schema/api/agent";
import { showCount } from "@retinue/core/show/measures";
import { useQuery } from "@tanstack/react-query";
import { ShieldQuestion } from "lucide-react";
import { useEffect, useMemo } from "react";
import { api } from "../../../data/client.ts";
import { useAgents } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { join } from "../../../ui/class-names.ts";
import { AgentMark } from "../../../ui/face.tsx";
import { INPUT } from "../../../ui/fields.tsx";
import { NamePicker } from "../../../ui/name-picker.tsx";
import { fitsRights, RightsTable, VERDICTS } from "../../../ui/rights-table.tsx";
import { Empty, Loading } from "../../../ui/states.tsx";
import { useParam } from "../../../ui/use-address.ts";
import { useAgentDraft } from "../use-agent-draft.tsx";

const KINDS = Object.keys(VERDICTS) as RightsRow["verdict"][];

/** For every tool what becomes of a call, and the layer and rule that decide it. */
export function AgentRightsTab({ before }: { before: AgentReview | null }) {
  const draft = useAgentDraft();
  const review = useSignal(draft.review);
  const saved = useSavedRights(before);
  const [words, setWords] = useParam("tool");
  const [verdict, setVerdict] = useParam("verdict");
  const rows = useMemo(() => {
    const found = (review?.rights ?? []).filter(
      (row) => (verdict === "" || row.verdict === verdict) && fitsRights(row, words),
    );
    return byWorth(found, saved);
  }, [review, saved, words, verdict]);
  if (!review) return <Loading label="Working out the rights" />;
  if (!review.form)
    return (
      <Empty icon={ShieldQuestion} title="No agent, no rights">
        The text cannot be used yet.
      </Empty>
    );
  return (
    <div className="grid grid-cols-1 gap-3 p-3">
      <ParentsPicker />
      <div className="flex flex-wrap items-center gap-1.5">
        <input
          type="search"
          aria-label="Find in the rights"
          placeholder="Find a tool, layer or rule"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          className={join(INPUT, "h-7 min-w-40 flex-1 text-xs")}
        />
        <VerdictFilter rights={review.rights} verdict={verdict} onChange={setVerdict} />
      </div>
      <RightsTable rows={rows} before={saved} />
      <p className="text-xs text-ink-3">
        {showCount(rows.length, "row")} for {review.chain.join(" → ") || "nobody"}. The strictest layer
        decides.
      </p>
    </div>
  );
}

/** What differs from the file first, then what may be done; what is denied, which is most, last. */
function byWorth(rows: readonly RightsRow[], saved: readonly RightsRow[] | null): RightsRow[] {
  const before = new Map(saved?.map(({ tool, verdict }) => [tool, verdict]));
  const rank = ({ tool, verdict }: RightsRow) =>
    (before.get(tool) ?? verdict) === verdict ? KINDS.indexOf(verdict) : -1;
  return rows.toSorted((one, other) => rank(one) - rank(other));
}

type VerdictFilterProps = {
  rights: readonly RightsRow[];
  verdict: string;
  onChange: (verdict: string) => void;
};

function VerdictFilter({ rights, verdict, onChange }: VerdictFilterProps) {
  const counts = Map.groupBy(rights, (row) => row.verdict);
  return (
    <fieldset aria-label="Verdict" className="flex gap-1">
      {KINDS.filter((kind) => counts.has(kind)).map((kind) => {
        const { icon: Icon, tone, soft, word } = VERDICTS[kind];
        const isOn = verdict === kind;
        return (
          <button
            key={kind}
            type="button"
            aria-pressed={isOn}
            onClick={() => onChange(isOn ? "" : kind)}
            className={join(
              "figures inline-flex h-7 items-center gap-1 rounded-md border px-1.5 text-2xs font-medium",
              tone,
              isOn ? `border-current ${soft}` : "border-line hover:bg-hover",
            )}
          >
            <Icon aria-hidden className="size-3" /> {counts.get(kind)?.length} {word}
          </button>
        );
      })}
    </fieldset>
  );
}

/** The rights that the file gives below the same parents. */
function useSavedRights(before: AgentReview | null): readonly RightsRow[] | null {
  const draft = useAgentDraft();
  const parents = useSignal(draft.parents);
  const { text, hash } = useSignal(draft.saved);
  const { data } = useQuery({
    queryKey: ["agents", "rights", draft.name, hash, parents],
    queryFn: () => api.post<AgentReview>("/api/agents/review", { text, name: draft.name, parents }),
    enabled: before !== null && parents.length > 0 && hash !== null,
  });
  if (before === null) return null;
  return parents.length === 0 ? before.rights : (data?.rights ?? null);
}

/** Below which agents the rights are shown: a parent can only narrow them. */
export function ParentsPicker() {
  const draft = useAgentDraft();
  const { data } = useAgents();
  const [below, setBelow] = useParam("below");
  const parents = useMemo(() => below.split(",").filter(Boolean), [below]);
  useEffect(() => draft.below(parents), [draft, parents]);
  const names = (data?.agents ?? []).filter(({ state }) => state === "enabled").map(({ name }) => name);
  return (
    <NamePicker
      label="With these parent agents, outermost first"
      value={parents}
      choices={names}
      findNameLook={(name) => ({ mark: <AgentMark name={name} size="sm" /> })}
      placeholder={parents.length === 0 ? "None: as the first agent of a session" : "Add a parent"}
      onChange={(chosen) => setBelow(chosen.join(","))}
    />
  );
}
