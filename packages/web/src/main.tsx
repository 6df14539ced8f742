import { cspNonce } from "./data/client.ts";
import { followNews } from "./data/news.ts";
import { queryClient } from "./data/queries.ts";
import { ErrorBoundary } from "./frame/error-boundary.tsx";
import { useTabTitle } from "./frame/places.ts";
import { AppShell } from "./frame/shell.tsx";
import { loadAllScreens, ROUTES } from "./screens.ts";
import "./theme.css";
import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { MapPinOff } from "lucide-react";
import { StrictMode, Suspense } from "react";
import { createRoot } from "react-dom/client";
import { Route, Switch, useLocation } from "wouter";
import { TextLink } from "./ui/controls.tsx";
import { ScreenHead } from "./ui/screen-head.tsx";
import { Empty, Loading } from "./ui/states.tsx";

followNews();
const root = document.getElementById("root");
if (!root) throw new Error("the page has no place for the app");
createRoot(root).render(
  <StrictMode>
    <CSPProvider nonce={cspNonce()}>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
loadAllScreens();

function App() {
  const [place] = useLocation();
  return (
    <AppShell>
      <ErrorBoundary place={place}>
        <Suspense fallback={<Loading />}>
          <Switch>
            {ROUTES.map(({ path, screen }) => (
              <Route key={path} path={path} component={screen} />
            ))}
            <Route component={LostScreen} />
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </AppShell>
  );
}

/** An address that leads nowhere. */
function LostScreen() {
  useTabTitle("Not found");
  return (
    <>
      <ScreenHead title="Nothing here" />
      <Empty icon={MapPinOff} title="This address leads nowhere">
        <TextLink href="/">Go to the chat</TextLink>
      </Empty>
    </>
  );
}
