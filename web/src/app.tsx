import { type ComponentType, lazy, Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { ErrorBoundary } from "./shell/error-boundary.tsx";
import { Shell } from "./shell/shell.tsx";
import { Loading } from "./ui/states.tsx";

/** Screens are loaded when they are first opened. */
const Chat = lazy(() => import("./screens/chat/chat-screen.tsx"));
const Runs = lazy(() => import("./screens/runs/runs-screen.tsx"));
const Trace = lazy(() => import("./screens/trace/trace-screen.tsx"));
const Compare = lazy(() => import("./screens/compare/compare-screen.tsx"));
const Agents = lazy(() => import("./screens/agents/agents-screen.tsx"));
const Plans = lazy(() => import("./screens/plans/plans-screen.tsx"));
const Stats = lazy(() => import("./screens/stats/stats-screen.tsx"));
const Approvals = lazy(() => import("./screens/approvals/approvals-screen.tsx"));
const Health = lazy(() => import("./screens/health/health-screen.tsx"));
const Lost = lazy(() => import("./screens/lost-screen.tsx"));

const ROUTES: readonly [path: string, screen: ComponentType][] = [
  ["/", Chat],
  ["/chat/:session", Chat],
  ["/runs", Runs],
  ["/trace/:session", Trace],
  ["/compare", Compare],
  ["/agents/:name?", Agents],
  ["/plans/:id?", Plans],
  ["/stats", Stats],
  ["/approvals/:id?", Approvals],
  ["/health", Health],
];

/** The whole app. */
export function App() {
  const [place] = useLocation();
  return (
    <Shell>
      <ErrorBoundary place={place}>
        <Suspense fallback={<Loading />}>
          <Switch>
            {ROUTES.map(([path, screen]) => (
              <Route key={path} path={path} component={screen} />
            ))}
            <Route component={Lost} />
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  );
}
