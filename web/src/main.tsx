import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { followNews } from "./api/news.ts";
import { queryClient } from "./api/queries.ts";
import { App } from "./app.tsx";
import { cspNonce } from "./csp-nonce.ts";
import { loadAllScreens } from "./screens.ts";
import "./theme.css";

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
