import { Component, type ReactNode, useEffect, useRef } from "react";
import { ApiFailure } from "../data/client.ts";
import { useNews } from "../data/news.ts";
import { Failed } from "../ui/states.tsx";

/** Catches what goes wrong while a screen is drawn, so that the rest of the app stays; another address tries again. */
export class ErrorBoundary extends Component<
  { place: string; children: ReactNode },
  { failure: unknown; at: string }
> {
  override state: { failure: unknown; at: string } = { failure: null, at: "" };

  static getDerivedStateFromError(failure: unknown): { failure: unknown } {
    return { failure };
  }

  override componentDidCatch(): void {
    this.setState({ at: this.props.place });
  }

  override componentDidUpdate(): void {
    const { failure, at } = this.state;
    if (failure !== null && at !== "" && at !== this.props.place) this.setState({ failure: null, at: "" });
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === null) return this.props.children;
    if (isUnloaded(failure)) return <Unloaded />;
    return <Failed failure={failure} onRetry={() => location.reload()} />;
  }
}

const UNLOADED = new ApiFailure(0, {
  code: "unreachable",
  message: "This part of the page could not be loaded.",
  hint: "The server may be stopped. Start it again with: retinue serve",
});

/** A screen whose own file did not come; it is loaded at once if the server has others by now, or as soon as it is back. */
function Unloaded() {
  const { connection } = useNews();
  const wasLost = useRef(false);
  useEffect(() => void reloadWhenUpdated(), []);
  useEffect(() => {
    if (connection === "lost") wasLost.current = true;
    else if (connection === "open" && wasLost.current) location.reload();
  }, [connection]);
  return <Failed failure={UNLOADED} onRetry={() => location.reload()} />;
}

function isUnloaded(failure: unknown): boolean {
  return failure instanceof Error && /imported module|module script|preload/i.test(failure.message);
}

const KEY = "retinue.reloadedAt";
const PAUSE_MS = 10_000;

/**
 * Loads the page anew because a screen's own file is missing: a server that was replaced by a newer one has other files. Only
 * for a screen that cannot be drawn, since whatever is being typed on another one would be lost. While no server answers, the
 * page that is there is better than none.
 */
async function reloadWhenUpdated(): Promise<void> {
  const isThere = await fetch("/api/about").then(
    () => true,
    () => false,
  );
  const before = Number(sessionStorage.getItem(KEY) ?? 0);
  if (!isThere || Date.now() - before < PAUSE_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
