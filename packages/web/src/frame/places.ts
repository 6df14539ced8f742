import {
  Activity,
  Bot,
  ChartNoAxesColumn,
  Hand,
  HeartPulse,
  ListChecks,
  type LucideIcon,
  MessageSquareText,
} from "lucide-react";
import { useEffect } from "react";
import { useNews } from "../data/news.ts";
import { useAbout } from "../data/queries.ts";
import { Signal, useSignal } from "../live/signal.ts";

/** A screen that the navigation leads to. */
export type AppPlace = {
  path: string;
  name: string;
  icon: LucideIcon;
  /** The keys that lead there. */
  keys: string;
  /** On a phone it is found under More. */
  isRare?: boolean;
};

/** The screens, in the order of the navigation. A trace belongs to the run it shows, a comparison to its runs. */
export const PLACES: readonly AppPlace[] = [
  { path: "/", name: "Chat", icon: MessageSquareText, keys: "g c" },
  { path: "/runs", name: "Runs", icon: Activity, keys: "g r" },
  { path: "/approvals", name: "Approvals", icon: Hand, keys: "g p" },
  { path: "/plans", name: "Plans", icon: ListChecks, keys: "g l" },
  { path: "/agents", name: "Agents", icon: Bot, keys: "g a" },
  { path: "/stats", name: "Stats", icon: ChartNoAxesColumn, keys: "g s", isRare: true },
  { path: "/health", name: "Health", icon: HeartPulse, keys: "g h", isRare: true },
];

/** Whether a path belongs to a place. */
export function isInPlace(place: AppPlace, path: string): boolean {
  if (place.path === "/") return path === "/" || path.startsWith("/chat");
  if (place.path === "/runs" && /^\/(trace|compare)\b/.test(path)) return true;
  return path === place.path || path.startsWith(`${place.path}/`);
}

const MOST_CHARS = 80;
const screen = new Signal("");

/** Names what the page shows in the title of its tab, so that one of many is found again. */
export function useTabTitle(name: string): void {
  useEffect(() => screen.set(name), [name]);
}

/** Keeps the tab's title: how many calls wait for the person, what is shown, and of which project. */
export function useTabTitles(): void {
  const { asks } = useNews();
  const { data: about } = useAbout();
  const name = useSignal(screen);
  const project = about?.projectName;
  useEffect(() => {
    const parts = [name.slice(0, MOST_CHARS), project, "Retinue"].filter(Boolean);
    document.title = `${asks > 0 ? `(${asks}) ` : ""}${parts.join(" · ")}`;
  }, [asks, name, project]);
}
