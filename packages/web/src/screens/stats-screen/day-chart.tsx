import { useEffect, useRef, useSyncExternalStore } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { DayStats } from "@retinue/core/schema/stats";
import { fillDays } from "./fill-days.ts";

const HEIGHT = 200;
const UTC = "Etc/UTC";
const HALF_DAY = 43_200;
const DAYS = [1, 2, 5, 7, 14, 28, 56, 112].map((days) => days * 86_400);

const COUNTS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].flatMap((one) => [one, 2 * one, 5 * one]);

/** Room for the longest number beside the axis. */
function measureWidth(_: uPlot, words: readonly string[] | null): number {
  return 20 + 7 * Math.max(2, ...(words ?? []).map(({ length }) => length));
}

function showDay(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    timeZone: "UTC",
  });
}

/** Runs and successes per day as bars. The same is said in a table beside it, so that it is a picture to screen readers. */
export default function DayChart({ days, fewest }: { days: readonly DayStats[]; fewest: number }) {
  const place = useRef<HTMLDivElement>(null);
  const theme = useShownTheme();
  useEffect(() => {
    const target = place.current;
    if (!target) return;
    const chart = new uPlot(optionsFor(target, theme), alignData(days, fewest), target);
    const observer = new ResizeObserver(() =>
      chart.setSize({ width: Math.max(200, target.clientWidth), height: HEIGHT }),
    );
    observer.observe(target);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [days, fewest, theme]);
  return (
    <div ref={place} aria-hidden className="min-w-0 [&_.u-legend]:text-xs" style={{ minHeight: HEIGHT }} />
  );
}

function alignData(days: readonly DayStats[], fewest: number): uPlot.AlignedData {
  const filled = fillDays(days, fewest, Date.now());
  return [
    filled.map(({ day }) => Date.parse(day) / 1_000),
    filled.map(({ runs }) => runs),
    filled.map(({ successes }) => successes),
  ];
}

function optionsFor(target: HTMLElement, theme: string): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis = {
    stroke: colour("--ink-3"),
    font: `11px ${getComputedStyle(target).fontFamily}`,
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { stroke: colour("--line"), width: 1 },
  };
  const bars = uPlot.paths.bars?.({ size: [0.7, 40], radius: 0.15 });
  const bar = (label: string, fill: string): uPlot.Series => ({
    label,
    fill,
    stroke: fill,
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  });
  return {
    class: theme,
    width: Math.max(200, target.clientWidth),
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), UTC),
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    legend: { show: false },
    scales: {
      x: { time: true, range: ({ data: [at] }) => [(at[0] ?? 0) - HALF_DAY, (at.at(-1) ?? 0) + HALF_DAY] },
      y: { range: (_, __, high) => [0, Math.max(4, Math.ceil(high * 1.1))] },
    },
    axes: [
      { ...axis, grid: { show: false }, space: 60, incrs: DAYS, values: (_, ticks) => ticks.map(showDay) },
      { ...axis, size: measureWidth, incrs: COUNTS },
    ],
    series: [{}, bar("Runs", colour("--line-strong")), bar("Successes", colour("--ok"))],
  };
}

/** The theme of the page now, chosen by the person or by the system. */
function useShownTheme(): string {
  return useSyncExternalStore(
    (listener) => {
      const observer = new MutationObserver(listener);
      observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
      return () => observer.disconnect();
    },
    () => document.documentElement.dataset.theme ?? "light",
  );
}
