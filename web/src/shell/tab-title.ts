import { useEffect } from "react";
import { useNews } from "../api/news.ts";
import { useAbout } from "../api/queries.ts";
import { Signal, useSignal } from "../live/signal.ts";

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
