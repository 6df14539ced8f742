import type { Problem } from "@retinue/core/schema/agent";
import type { AgentCard } from "@retinue/core/schema/api/agent";
import { showCount } from "@retinue/core/show/measures";
import { BotOff, Layers, Plus, PowerOff, SearchX, ShieldAlert, TriangleAlert, Workflow } from "lucide-react";
import { useMemo, useRef } from "react";
import { Link, useSearch } from "wouter";
import { useAgents } from "../../data/queries.ts";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { join } from "../../ui/class-names.ts";
import { ButtonLink } from "../../ui/controls.tsx";
import { createFilter } from "../../ui/create-filter.ts";
import { AgentMark } from "../../ui/face.tsx";
import { SearchBox } from "../../ui/search-box.tsx";
import { Empty, Loaded } from "../../ui/states.tsx";
import { Badge, type BadgeLook } from "../../ui/status.tsx";
import { useParam } from "../../ui/use-address.ts";
import { agentPath, HealthMark, ProblemLine, SCOPES } from "./agent-marks.tsx";

/** Every agent there is, by where it comes from. Its title is the page's as long as nothing else is open. */
export function AgentListPane({ opened, isBeside }: { opened: string | null; isBeside: boolean }) {
  const query = useAgents();
  const [words, setWords] = useParam("q");
  const Title = isBeside ? "h2" : "h1";
  return (
    <>
      <div className="flex min-h-12 shrink-0 flex-wrap items-center gap-1.5 border-b border-line bg-panel px-3 py-2">
        <Title className="mr-auto text-base font-semibold">Agents</Title>
        <ButtonLink href="/agents?view=graph">
          <Workflow aria-hidden className="size-3.5" /> Graph
        </ButtonLink>
        <ButtonLink kind="primary" href="/agents/new">
          <Plus aria-hidden className="size-3.5" /> New agent
        </ButtonLink>
      </div>
      <Finder words={words} onWords={setWords} />
      <nav aria-label="Agents" className="min-h-0 flex-1 overflow-auto px-2 pb-4">
        <Loaded query={query} label="Loading the agents">
          {({ agents, problems }) => (
            <>
              <Groups agents={agents} words={words} opened={opened} />
              {words === "" && <FileProblems problems={problems} />}
            </>
          )}
        </Loaded>
      </nav>
    </>
  );
}

function Finder({ words, onWords }: { words: string; onWords: (words: string) => void }) {
  const place = useRef<HTMLDivElement>(null);
  const step = (by: number) => {
    const links = [...(place.current?.closest("section")?.querySelectorAll<HTMLElement>("nav a") ?? [])];
    const at = links.findIndex((link) => link.matches(":focus"));
    links[at < 0 ? 0 : Math.min(Math.max(0, at + by), links.length - 1)]?.focus();
  };
  useShortcuts([
    { keys: "j", does: "Next agent", act: () => step(1) },
    { keys: "k", does: "Previous agent", act: () => step(-1) },
  ]);
  return (
    <div ref={place} className="shrink-0 px-3 py-2">
      <SearchBox
        label="Find an agent"
        does="Find an agent"
        around=""
        value={words}
        onChange={onWords}
        onLeave={() => step(1)}
      />
    </div>
  );
}

type GroupsProps = { agents: readonly AgentCard[]; words: string; opened: string | null };

function Groups({ agents, words, opened }: GroupsProps) {
  const groups = useMemo(() => groupAgents(agents, words), [agents, words]);
  if (agents.length === 0) {
    return (
      <Empty icon={BotOff} title="No agents yet">
        Make one with “New agent”, or put a Markdown file into .retinue/agents.
      </Empty>
    );
  }
  if (groups.length === 0) return <Empty icon={SearchX} title="No agent fits" />;
  return groups.map(([scope, cards]) => (
    <section key={scope} aria-label={SCOPES[scope]} className="pt-2">
      <h2 className="flex justify-between px-2 pb-1 text-2xs font-semibold text-ink-3">
        {SCOPES[scope]}
        <span className="figures font-normal">{showCount(cards.length, "agent")}</span>
      </h2>
      <ul className="grid grid-cols-1 gap-px">
        {cards.map((card) => (
          <li key={`${card.name} ${card.file}`}>
            <AgentRow card={card} isOpen={card.name === opened && card.state !== "shadowed"} />
          </li>
        ))}
      </ul>
    </section>
  ));
}

function groupAgents(agents: readonly AgentCard[], words: string): [AgentCard["scope"], AgentCard[]][] {
  const fits = createFilter(words);
  const found = Map.groupBy(
    agents.filter(({ name, displayName, description, model, aliases, file }) =>
      fits(name, displayName, description, model, file, ...aliases),
    ),
    ({ scope }) => scope,
  );
  const scopes = Object.keys(SCOPES) as AgentCard["scope"][];
  return [...found].sort(([one], [other]) => scopes.indexOf(one) - scopes.indexOf(other));
}

const LOOK =
  "flex gap-2.5 rounded-md px-2 py-1.5 [contain-intrinsic-size:auto_3.75rem] [content-visibility:auto]";

/** One agent of the list. A shadowed one cannot be opened: its name leads to the one that comes first. */
function AgentRow({ card, isOpen }: { card: AgentCard; isOpen: boolean }) {
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
          {listMarks(card).map((look) => (
            <Badge key={look.word} look={look} quiet className="h-auto min-w-0 shrink font-normal" />
          ))}
        </p>
      </div>
    </>
  );
}

/** What is out of the ordinary about an agent. */
function listMarks({ state, shadowedBy, concerns }: AgentCard): BadgeLook[] {
  const states: Partial<Record<AgentCard["state"], BadgeLook>> = {
    disabled: { word: "disabled", tone: "text-off", icon: PowerOff },
    broken: { word: "cannot be used", tone: "text-bad", icon: TriangleAlert },
    shadowed: { word: `shadowed by ${shadowedBy ?? "another"}`, tone: "text-off", icon: Layers },
  };
  const concern = { word: showCount(concerns.length, "concern"), tone: "text-warn", icon: ShieldAlert };
  return [states[state] ?? [], concerns.length > 0 ? concern : []].flat();
}

/** Problems of files that no agent came of. */
function FileProblems({ problems }: { problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <section aria-label="Files that could not be used" className="pt-4">
      <h2 className="px-2 pb-1 text-2xs font-semibold text-ink-3">Files that could not be used</h2>
      <ul className="grid gap-1.5 px-2">
        {problems.map((problem) => (
          <li key={`${problem.file} ${problem.line} ${problem.code} ${problem.message}`}>
            <ProblemLine problem={problem} place={`${problem.file}:${problem.line}`} />
          </li>
        ))}
      </ul>
    </section>
  );
}
