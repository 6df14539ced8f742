import type { RunStats, StatsBy, StatsGroup } from "@retinue/core/schema/stats";
import {
  showCost,
  showNumber,
  showPercent,
  showShare,
  showShort,
  showSpacedDuration,
} from "@retinue/core/show/measures";
import { ArrowDown, ArrowUp, ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { encodePart } from "../../data/client.ts";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { AgentName } from "../../ui/face.tsx";
import { useParam } from "../../ui/use-address.ts";

type Order = { key: string; isDown: boolean };

/** The figures by group; every heading sorts. */
export function StatsTable({ groups, by }: { groups: readonly StatsGroup[]; by: StatsBy }) {
  const [order, setOrder] = useOrder();
  const columns = columnsFor(by);
  const column = columns.find(({ key }) => key === order.key) ?? columns.find(({ key }) => key === "runs");
  const rows = column ? sorted(groups, column, order.isDown) : groups;
  return (
    <section
      aria-label="By group"
      {...REACHABLE}
      className="overflow-x-auto rounded-lg border border-line bg-panel"
    >
      <table className="figures w-full border-collapse text-sm">
        <caption className="sr-only">Figures by {by === "both" ? "agent and model" : by}</caption>
        <thead>
          <tr className="border-b border-line">
            {columns.map((each) => (
              <Heading
                key={each.key}
                column={each}
                direction={each.key === column?.key ? (order.isDown ? "descending" : "ascending") : null}
                onSort={() =>
                  setOrder({
                    key: each.key,
                    isDown:
                      each.key === column?.key ? !order.isDown : each.key !== "role" && each.key !== "model",
                  })
                }
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((group) => (
            <tr
              key={`${group.role ?? ""} ${group.model ?? ""}`}
              className="border-b border-line last:border-b-0 hover:bg-hover"
            >
              {columns.map(({ key, isText, show }, index) => {
                const look = join("px-2.5 py-2 align-top whitespace-nowrap", !isText && "text-right");
                return index === 0 ? (
                  <th
                    key={key}
                    scope="row"
                    className={join(look, "sticky left-0 bg-panel text-left font-normal max-sm:max-w-40")}
                  >
                    {show(group)}
                  </th>
                ) : (
                  <td key={key} className={look}>
                    {show(group)}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

type HeadingProps = { column: Column; direction: "ascending" | "descending" | null; onSort: () => void };

function Heading({ column: { name, about, isText }, direction, onSort }: HeadingProps) {
  const Icon = direction === null ? ChevronsUpDown : direction === "ascending" ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      aria-sort={direction ?? "none"}
      className={join(
        "bg-raised px-1 py-1 text-xs font-medium text-ink-2 first:sticky first:left-0",
        isText ? "text-left" : "text-right",
      )}
    >
      <button
        type="button"
        onClick={onSort}
        title={about}
        className="inline-flex items-center gap-1 rounded px-1.5 py-0.5 whitespace-nowrap hover:bg-hover hover:text-ink"
      >
        {name}
        <Icon aria-hidden className={join("size-3", direction ? "text-accent" : "text-ink-3")} />
      </button>
    </th>
  );
}

function useOrder(): [Order, (order: Order) => void] {
  const [said, say] = useParam("sort");
  const { key = "runs", sign = "-" } = /^(?<sign>-?)(?<key>.+)$/.exec(said)?.groups ?? {};
  return [{ key, isDown: sign === "-" }, (order) => say(`${order.isDown ? "-" : ""}${order.key}`)];
}

function sorted(groups: readonly StatsGroup[], { value }: Column, isDown: boolean): StatsGroup[] {
  return groups.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return isDown ? -order : order;
  });
}

/** A column of the table: how it is shown, and what it is sorted by; null stands at the end either way. */
type Column = {
  key: string;
  name: string;
  about?: string;
  isText?: true;
  value: (group: StatsGroup) => number | string | null;
  show: (group: StatsGroup) => ReactNode;
};

const NOTHING = <span className="text-ink-3">–</span>;
const UNKNOWN = <span className="text-ink-3">not recorded</span>;

const ROLE: Column = {
  key: "role",
  name: "Agent",
  isText: true,
  value: ({ role }) => role ?? null,
  show: ({ role }) =>
    role ? (
      <Link href={`/agents/${encodePart(role)}`} className="hover:underline">
        <AgentName name={role} size="sm" />
      </Link>
    ) : (
      UNKNOWN
    ),
};

const MODEL: Column = {
  key: "model",
  name: "Model",
  isText: true,
  value: ({ model }) => model ?? null,
  show: ({ model }) => (model ? <span className="font-mono text-xs">{model}</span> : UNKNOWN),
};

const FIGURES: readonly Column[] = [
  {
    key: "runs",
    name: "Runs",
    value: ({ runs }) => runs,
    show: ({ runs, open }) => (
      <>
        {showNumber(runs)}
        {open > 0 && <span className="text-xs text-ink-3"> ({open} open)</span>}
      </>
    ),
  },
  {
    key: "success",
    name: "Success",
    about:
      "Completed and not cut short, among all runs that ended and were not cancelled; with the 95 % interval",
    isText: true,
    value: ({ success }) => success?.rate ?? null,
    show: (group) => <SuccessShare stats={group} />,
  },
  ...(["p50", "p95"] as const).map(
    (which): Column => ({
      key: which,
      name: which,
      about: which === "p50" ? "Half of the runs ended within" : "95 % of the runs ended within",
      value: ({ durationMs }) => durationMs?.[which] ?? null,
      show: ({ durationMs }) => (durationMs ? showSpacedDuration(durationMs[which]) : NOTHING),
    }),
  ),
  {
    key: "tokens",
    name: "Tokens",
    value: ({ tokens }) => tokens.total,
    show: ({ tokens, subtree }) => (
      <>
        {showShort(tokens.total)}
        {subtree.tokens > tokens.total && (
          <span className="block text-xs text-ink-3">{showShort(subtree.tokens)} with all below</span>
        )}
      </>
    ),
  },
  {
    key: "cost",
    name: "Cost",
    value: ({ costUsd }) => costUsd,
    show: ({ costUsd, tokens, subtree }) => (
      <>
        {showCost(costUsd)}
        {subtree.tokens > tokens.total && (
          <span className="block text-xs text-ink-3">{showCost(subtree.costUsd)} with all below</span>
        )}
      </>
    ),
  },
  {
    key: "tests",
    name: "Tests",
    about: "Tests that the runs ran themselves, each suite by its last run",
    value: ({ work }) => work.testsRun,
    show: ({ work: { testsRun, testsPassed } }) =>
      testsRun === null || testsPassed === null
        ? NOTHING
        : `${showNumber(testsPassed)} of ${showNumber(testsRun)} passed`,
  },
  {
    key: "files",
    name: "Files",
    about: "Files that the runs made, changed or deleted themselves",
    value: ({ work }) => work.files,
    show: ({ work }) => work.files || NOTHING,
  },
  {
    key: "each",
    name: "Per success",
    about: "The cost of all runs, the failed included, for each success",
    value: ({ costPerSuccessUsd }) => costPerSuccessUsd,
    show: ({ costPerSuccessUsd, successes }) =>
      successes === 0 ? <span className="text-ink-3">no success</span> : showCost(costPerSuccessUsd),
  },
  {
    key: "retries",
    name: "Retries",
    about: "Runs that repeated a failed attempt",
    value: ({ retries }) => retries,
    show: ({ retries }) => retries || NOTHING,
  },
  {
    key: "bailouts",
    name: "Cut short",
    about: "Runs that a limit or a stop cut short, by reason",
    isText: true,
    value: ({ bailouts }) => sumCounts(bailouts),
    show: ({ bailouts }) =>
      sumCounts(bailouts) === 0 ? (
        NOTHING
      ) : (
        <span className="block w-32 whitespace-normal">
          {sumCounts(bailouts)} <span className="text-xs text-ink-3">({showCounts(bailouts)})</span>
        </span>
      ),
  },
];

function columnsFor(by: StatsBy): readonly Column[] {
  return [...(by === "model" ? [] : [ROLE]), ...(by === "role" ? [] : [MODEL]), ...FIGURES];
}

/** A success rate with the interval in which the true one lies; too few runs say nothing. */
export function SuccessShare({ stats }: { stats: RunStats }) {
  const { success, runs, open, cancelled } = stats;
  // Runs that were cancelled are neither successes nor failures.
  if (!success)
    return (
      <span className="text-ink-3">
        not enough data <span className="figures">(n={runs - open - cancelled})</span>
      </span>
    );
  const { low, high, rate } = success;
  return (
    <span className="inline-grid gap-1">
      <span className="figures">
        <span className="font-semibold">{showPercent(rate)} %</span>
        <span className="ml-1 inline-block text-ink-3">{showShare(success).replace(/^\d+ %/, "")}</span>
      </span>
      <span aria-hidden className="relative block h-1.5 w-28 rounded-full bg-off-soft">
        <span
          className="absolute inset-y-0 rounded-full bg-ok opacity-35"
          style={{ left: `${low * 100}%`, width: `${Math.max(1, (high - low) * 100)}%` }}
        />
        <span
          className="absolute -inset-y-0.5 w-0.5 -translate-x-1/2 rounded-full bg-ok"
          style={{ left: `${rate * 100}%` }}
        />
      </span>
    </span>
  );
}

/** Counts by reason in words: `max iterations 2, timeout 1`. */
function showCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([reason, count]) => `${reason.replaceAll("_", " ")} ${count}`)
    .join(", ");
}

function sumCounts(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
