import type { StatsBy, StatsGroup } from "@retinue/core/schema/stats";
import { showCost, showNumber, showShort, showSpacedDuration } from "@retinue/core/show/measures";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { encodePart } from "../../data/client.ts";
import { AgentName } from "../../ui/face.tsx";
import { SuccessShare, showCounts, sumCounts } from "./success-share.tsx";

/** A column of the table: how it is shown, and what it is sorted by; null stands at the end either way. */
export type Column = {
  key: string;
  name: string;
  about?: string;
  isNumber: boolean;
  value: (group: StatsGroup) => number | string | null;
  show: (group: StatsGroup) => ReactNode;
};

const NOTHING = <span className="text-ink-3">–</span>;
const UNKNOWN = <span className="text-ink-3">not recorded</span>;

const ROLE: Column = {
  key: "role",
  name: "Agent",
  isNumber: false,
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
  isNumber: false,
  value: ({ model }) => model ?? null,
  show: ({ model }) => (model ? <span className="font-mono text-xs">{model}</span> : UNKNOWN),
};

const FIGURES: readonly Column[] = [
  {
    key: "runs",
    name: "Runs",
    isNumber: true,
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
    isNumber: false,
    value: ({ success }) => success?.rate ?? null,
    show: (group) => <SuccessShare stats={group} />,
  },
  ...(["p50", "p95"] as const).map(
    (which): Column => ({
      key: which,
      name: which,
      about: which === "p50" ? "Half of the runs ended within" : "95 % of the runs ended within",
      isNumber: true,
      value: ({ durationMs }) => durationMs?.[which] ?? null,
      show: ({ durationMs }) => (durationMs ? showSpacedDuration(durationMs[which]) : NOTHING),
    }),
  ),
  {
    key: "tokens",
    name: "Tokens",
    isNumber: true,
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
    isNumber: true,
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
    isNumber: true,
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
    isNumber: true,
    value: ({ work }) => work.files,
    show: ({ work }) => work.files || NOTHING,
  },
  {
    key: "each",
    name: "Per success",
    about: "The cost of all runs, the failed included, for each success",
    isNumber: true,
    value: ({ costPerSuccessUsd }) => costPerSuccessUsd,
    show: ({ costPerSuccessUsd, successes }) =>
      successes === 0 ? <span className="text-ink-3">no success</span> : showCost(costPerSuccessUsd),
  },
  {
    key: "retries",
    name: "Retries",
    about: "Runs that repeated a failed attempt",
    isNumber: true,
    value: ({ retries }) => retries,
    show: ({ retries }) => retries || NOTHING,
  },
  {
    key: "bailouts",
    name: "Cut short",
    about: "Runs that a limit or a stop cut short, by reason",
    isNumber: false,
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

/** The columns for a way to group. */
export function columnsFor(by: StatsBy): readonly Column[] {
  return [...(by === "model" ? [] : [ROLE]), ...(by === "role" ? [] : [MODEL]), ...FIGURES];
}
