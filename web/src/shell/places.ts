import {
  Activity,
  Bot,
  ChartNoAxesColumn,
  Hand,
  HeartPulse,
  ListChecks,
  MessageSquareText,
} from "lucide-react";
import type { ComponentType } from "react";

/** A screen that the navigation leads to. */
export type Place = {
  path: string;
  name: string;
  icon: ComponentType<{ className?: string }>;
  /** The keys that lead there. */
  keys: string;
  /** On a phone it is found under More. */
  isRare?: boolean;
};

/** The screens, in the order of the navigation. A trace belongs to the run it shows, a comparison to its runs. */
export const PLACES: readonly Place[] = [
  { path: "/", name: "Chat", icon: MessageSquareText, keys: "g c" },
  { path: "/runs", name: "Runs", icon: Activity, keys: "g r" },
  { path: "/approvals", name: "Approvals", icon: Hand, keys: "g p" },
  { path: "/plans", name: "Plans", icon: ListChecks, keys: "g l" },
  { path: "/agents", name: "Agents", icon: Bot, keys: "g a" },
  { path: "/stats", name: "Stats", icon: ChartNoAxesColumn, keys: "g s", isRare: true },
  { path: "/health", name: "Health", icon: HeartPulse, keys: "g h", isRare: true },
];

/** Whether a path belongs to a place. */
export function isWithin(place: Place, path: string): boolean {
  if (place.path === "/") return path === "/" || path.startsWith("/chat");
  if (place.path === "/runs" && /^\/(trace|compare)\b/.test(path)) return true;
  return path === place.path || path.startsWith(`${place.path}/`);
}
