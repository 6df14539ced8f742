import { Layers, PowerOff, ShieldAlert, TriangleAlert } from "lucide-react";
import type { ComponentType } from "react";
import { Link, useSearch } from "wouter";
import type { AgentCard } from "../../../../../src/schema/api/agent.ts";
import { AgentMark } from "../../../ui/face.tsx";
import { join } from "../../../ui/join.ts";
import { countOf } from "../../../ui/measures.ts";
import { agentPath } from "../agent-path.ts";
import { HealthMark } from "./health-mark.tsx";

const LOOK =
  "flex gap-2.5 rounded-md px-2 py-1.5 [contain-intrinsic-size:auto_3.75rem] [content-visibility:auto]";

/** One agent of the list. A shadowed one cannot be opened: its name leads to the one that comes first. */
export function AgentRow({ card, isOpen }: { card: AgentCard; isOpen: boolean }) {
  const search = useSearch();
  if (card.state === "shadowed") {
    return (
      <div className={LOOK} title={card.file ?? undefined}>
        <Words card={card} />
      </div>
    );
  }
  return (
    <Link
      href={agentPath(card.name, search)}
      aria-current={isOpen ? "page" : undefined}
      className={join(LOOK, isOpen ? "bg-accent-soft" : "hover:bg-hover")}
    >
      <Words card={card} />
    </Link>
  );
}

function Words({ card }: { card: AgentCard }) {
  const isOff = card.state !== "enabled";
  return (
    <>
      <AgentMark name={card.name} />
      <div className="min-w-0 flex-1">
        <p className="flex items-baseline gap-1.5">
          <span className={join("truncate text-sm font-medium", isOff && "text-ink-2")}>
            {card.displayName}
          </span>
          {card.displayName.toLowerCase().replaceAll(" ", "-") !== card.name && (
            <span className="truncate font-mono text-2xs text-ink-3">{card.name}</span>
          )}
          <span className="ml-auto pl-1">
            <HealthMark health={card.health} />
          </span>
        </p>
        <p className="truncate text-xs text-ink-2">{card.description || "No description"}</p>
        <p className="flex flex-wrap items-center gap-x-2 text-2xs text-ink-3">
          <span className="truncate">{card.model === "inherit" ? "parent's model" : card.model}</span>
          {card.state === "disabled" && <Mark icon={PowerOff} words="disabled" tone="text-off" />}
          {card.state === "broken" && <Mark icon={TriangleAlert} words="cannot be used" tone="text-bad" />}
          {card.state === "shadowed" && (
            <Mark icon={Layers} words={`shadowed by ${card.shadowedBy ?? "another"}`} tone="text-off" />
          )}
          {card.concerns.length > 0 && (
            <Mark icon={ShieldAlert} words={countOf(card.concerns.length, "concern")} tone="text-warn" />
          )}
        </p>
      </div>
    </>
  );
}

function Mark({
  icon: Icon,
  words,
  tone,
}: {
  icon: ComponentType<{ className?: string }>;
  words: string;
  tone: string;
}) {
  return (
    <span className={join("inline-flex min-w-0 items-center gap-1", tone)}>
      <Icon aria-hidden className="size-3 shrink-0" />
      <span className="truncate">{words}</span>
    </span>
  );
}
