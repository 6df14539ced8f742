import { type ComponentType, lazy } from "react";

type Load = () => Promise<{ default: ComponentType }>;

const REST_MS = 2_000;

/** Each screen is a file of its own. */
const LOADS = {
  chat: () => import("./screens/chat/chat-screen.tsx"),
  runs: () => import("./screens/runs/runs-screen.tsx"),
  trace: () => import("./screens/trace-screen/trace-screen.tsx"),
  compare: () => import("./screens/compare/compare-screen.tsx"),
  agents: () => import("./screens/agents-screen/agents-screen.tsx"),
  plans: () => import("./screens/plans/plans-screen.tsx"),
  stats: () => import("./screens/stats-screen/stats-screen.tsx"),
  approvals: () => import("./screens/approvals/approvals-screen.tsx"),
  health: () => import("./screens/health/health-screen.tsx"),
  lost: () => import("./screens/lost-screen.tsx"),
} satisfies Record<string, Load>;

const { chat, runs, trace, compare, agents, plans, stats, approvals, health, lost } = LOADS;
const Chat = lazy(chat);

/** The screen at each address. */
export const ROUTES: readonly [path: string, screen: ComponentType][] = [
  ["/", Chat],
  ["/chat/:session", Chat],
  ["/runs", lazy(runs)],
  ["/trace/:session", lazy(trace)],
  ["/compare", lazy(compare)],
  ["/agents/:name?", lazy(agents)],
  ["/plans/:id?", lazy(plans)],
  ["/stats", lazy(stats)],
  ["/approvals/:id?", lazy(approvals)],
  ["/health", lazy(health)],
];

/** The screen at every other address. */
export const LostRoute = lazy(lost);

/**
 * Loads all of them, one by one, once the first has come to rest: going from one to the next then never waits, and the first
 * answer is Markdown from its first word. What does not come is asked for again when it is needed.
 */
export function loadAllScreens(): void {
  const left: (() => Promise<unknown>)[] = [
    () => import("./ui/rich-text/streamed-markdown.tsx"),
    ...Object.values(LOADS),
  ];
  const next = () => {
    const load = left.shift();
    if (load) requestIdleCallback(() => void load().then(next, () => {}));
  };
  setTimeout(next, REST_MS);
}
