import type { StatsBy, StatsGroup } from "@retinue/core/schema/stats";
import { ArrowDown, ArrowUp, ChevronsUpDown } from "lucide-react";
import { useSearchParams } from "wouter";
import { join, REACHABLE } from "../../ui/class-names.ts";
import { type Column, columnsFor } from "./stats-columns.tsx";

type Order = { key: string; isDown: boolean };

const ARIA = { up: "ascending", down: "descending" } as const;

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
                direction={each.key === column?.key ? (order.isDown ? "down" : "up") : null}
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
              {columns.map(({ key, isNumber, show }, index) => {
                const look = join("px-2.5 py-2 align-top whitespace-nowrap", isNumber && "text-right");
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

function Heading({
  column: { name, about, isNumber },
  direction,
  onSort,
}: {
  column: Column;
  direction: "up" | "down" | null;
  onSort: () => void;
}) {
  const Icon = direction === null ? ChevronsUpDown : direction === "up" ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      aria-sort={direction ? ARIA[direction] : "none"}
      className={join(
        "bg-raised px-1 py-1 text-xs font-medium text-ink-2 first:sticky first:left-0",
        isNumber ? "text-right" : "text-left",
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
  const [params, setParams] = useSearchParams();
  const said = params.get("sort") ?? "-runs";
  const order = { key: said.replace(/^-/, ""), isDown: said.startsWith("-") };
  const set = ({ key, isDown }: Order) =>
    setParams(
      (before) => {
        before.set("sort", `${isDown ? "-" : ""}${key}`);
        return before;
      },
      { replace: true },
    );
  return [order, set];
}

function sorted(groups: readonly StatsGroup[], { value }: Column, isDown: boolean): StatsGroup[] {
  return groups.toSorted((one, other) => {
    const [a, b] = [value(one), value(other)];
    if (a === null || b === null) return (a === null ? 1 : 0) - (b === null ? 1 : 0);
    const order = typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
    return isDown ? -order : order;
  });
}
