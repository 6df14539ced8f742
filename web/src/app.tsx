import { Suspense } from "react";
import { Route, Switch, useLocation } from "wouter";
import { Lost, ROUTES } from "./screens.ts";
import { ErrorBoundary } from "./shell/error-boundary.tsx";
import { Shell } from "./shell/shell.tsx";
import { Loading } from "./ui/states.tsx";

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
