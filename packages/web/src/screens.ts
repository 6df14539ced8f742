import { type ComponentType, lazy } from "react";

type Load = () => Promise<{ default: ComponentType }>;

const REST_MS = 2_000;

/** Each screen is a file of its own, at one address or more. */
const SCREENS: readonly [load: Load, ...paths: string[]][] = [
  [() => import("./screens/chat/chat-screen.tsx"), "/", "/chat/:session"],
  [() => import("./screens/runs/runs-screen.tsx"), "/runs"],
  [() => import("./screens/trace-screen/trace-screen.tsx"), "/trace/:session"],
  [() => import("./screens/compare/compare-screen.tsx"), "/compare"],
  [() => import("./screens/agents-screen/agents-screen.tsx"), "/agents/:name?"],
  [() => import("./screens/plans/plans-screen.tsx"), "/plans/:id?"],
  [() => import("./screens/stats-screen/stats-screen.tsx"), "/stats"],
  [() => import("./screens/approvals/approvals-screen.tsx"), "/approvals/:id?"],
  [() => import("./screens/health/health-screen.tsx"), "/health"],
];

/** The screen at each address. */
export const ROUTES = SCREENS.flatMap(([load, ...paths]) => {
  const screen = lazy(load);
  return paths.map((path) => ({ path, screen }));
});

/**
 * Loads all screens, one by one, once the first has come to rest: going from one to the next then never waits, and the first
 * answer is Markdown from its first word. A file that does not come is asked for again when it is needed.
 */
export function loadAllScreens(): void {
  const left: (() => Promise<unknown>)[] = [
    () => import("./ui/rich-text/streamed-markdown.tsx"),
    ...SCREENS.map(([load]) => load),
  ];
  const next = () => {
    const load = left.shift();
    if (load) requestIdleCallback(() => void load().then(next, () => {}));
  };
  setTimeout(next, REST_MS);
}
