import type { RightsRow, ToolList } from "@retinue/core/schema/api/agent";
import { ChevronRight } from "lucide-react";
import { memo, useMemo, useState } from "react";
import { useTools } from "../../../data/queries.ts";
import { useSignal } from "../../../live/signal.ts";
import { join } from "../../../ui/class-names.ts";
import { createFilter } from "../../../ui/create-filter.ts";
import { INPUT } from "../../../ui/fields.tsx";
import { VerdictMark } from "../../../ui/rights-table.tsx";
import { Failed, Loading } from "../../../ui/states.tsx";
import { useAgentDraft, useForm } from "../use-agent-draft.tsx";
import { findListing, LISTS, type Listing, ListingChoice, withListing } from "./rule-lists.tsx";

/** Every tool with the list it stands in, and what comes of that with everything else that counts. */
export function ToolTable() {
  const { data, error, refetch } = useTools();
  const [words, setWords] = useState("");
  const review = useSignal(useAgentDraft().review);
  const rights = useMemo(
    () => new Map((review?.rights ?? []).map((row) => [row.tool, row.verdict])),
    [review],
  );
  const groups = useMemo(() => (data ? toolGroups(data, words) : []), [data, words]);
  if (error) return <Failed failure={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading rows={3} label="Loading the tools" />;
  return (
    <div className="grid grid-cols-1 gap-1.5">
      <input
        type="search"
        aria-label="Find a tool"
        placeholder={`Find among ${data.tools.length} tools`}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        className={join(INPUT, "h-7 text-xs")}
      />
      <div className="overflow-hidden rounded-md border border-line">
        {groups.map((group) => (
          <GroupRows key={group.name} group={group} rights={rights} isFound={words !== ""} />
        ))}
        {groups.length === 0 && <p className="px-3 py-2 text-xs text-ink-3">No tool fits.</p>}
      </div>
    </div>
  );
}

type Rights = ReadonlyMap<string, RightsRow["verdict"]>;

function GroupRows({ group, rights, isFound }: { group: ToolGroup; rights: Rights; isFound: boolean }) {
  const { form, readOnly } = useForm(...LISTS);
  const common = { readOnly, canAllow: form.tools !== null };
  const names = [...group.tools.map(({ name }) => name), ...(group.isRule ? [group.name] : [])];
  const listed = names.filter((name) => findListing(form, name) !== "none").length;
  const [isOpen, setIsOpen] = useState(listed > 0);
  return (
    <details
      open={isOpen || isFound}
      onToggle={({ currentTarget }) => !isFound && setIsOpen(currentTarget.open)}
      className="border-line not-last:border-b"
    >
      <summary className="flex cursor-default list-none items-center gap-1.5 bg-raised px-2 [&::-webkit-details-marker]:hidden py-1 text-xs font-medium focus-visible:-outline-offset-2">
        <ChevronRight aria-hidden className="size-3.5 text-ink-3 transition-transform in-open:rotate-90" />
        {group.name}
        <span className="figures ml-auto font-normal text-ink-3">
          {listed > 0 ? `${listed} of ${names.length} listed` : `${group.tools.length}`}
        </span>
      </summary>
      <ul>
        {group.isRule && (
          <ToolRow
            {...common}
            name={group.name}
            about={`Everything in ${group.name}`}
            listing={findListing(form, group.name)}
            verdict={undefined}
          />
        )}
        {group.tools.map(({ name, description }) => (
          <ToolRow
            {...common}
            key={name}
            name={name}
            about={description}
            listing={findListing(form, name)}
            verdict={rights.get(name)}
          />
        ))}
      </ul>
    </details>
  );
}

type ToolRowProps = {
  name: string;
  about: string;
  listing: Listing;
  verdict: RightsRow["verdict"] | undefined;
  readOnly: boolean;
  canAllow: boolean;
};

/** Drawn again only if something of its own changes. */
const ToolRow = memo(function ToolRow({ name, about, listing, verdict, readOnly, canAllow }: ToolRowProps) {
  const draft = useAgentDraft();
  const choose = (chosen: Listing) => {
    const { value: form } = draft.form;
    if (form) draft.change(withListing(form, name, chosen));
  };
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-2.5 py-1">
      <div className="min-w-32 flex-1">
        <p className="flex items-center gap-2">
          <code className="truncate font-mono text-xs">{name}</code>
          {verdict && <VerdictMark verdict={verdict} />}
        </p>
        <p className="line-clamp-1 text-2xs text-ink-3" title={about}>
          {about}
        </p>
      </div>
      <ListingChoice
        rule={name}
        listing={listing}
        readOnly={readOnly}
        canAllow={canAllow}
        onChange={choose}
      />
    </li>
  );
});

type ToolGroup = {
  name: string;
  tools: ToolList["tools"];
  /** A rule may name the group; one that is called like a tool is that tool's row. */
  isRule: boolean;
};

function toolGroups({ tools, groups }: ToolList, words: string): ToolGroup[] {
  const fits = createFilter(words);
  const found = tools.filter(({ name, groups: own, description }) => fits(name, ...own, description));
  const names = new Set(tools.map(({ name }) => name));
  return [...Map.groupBy(found, ({ groups: [first] }) => first ?? "other")].map(([name, own]) => ({
    name,
    tools: own,
    isRule: groups.includes(name) && !names.has(name),
  }));
}
