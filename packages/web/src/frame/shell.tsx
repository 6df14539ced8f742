import { type ReactNode, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { useNews } from "../data/news.ts";
import { KeyHint, MOD } from "../ui/controls.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Toasts } from "../ui/toast.tsx";
import { Navigation } from "./navigation.tsx";
import { Palette } from "./palette.tsx";
import { PLACES, useTabTitles } from "./places.ts";
import { allShortcuts, listenForShortcuts, useShortcuts } from "./shortcuts.ts";

/** What is around every screen: navigation, commands, help on keys, messages, and how the connection stands. */
export function AppShell({ children }: { children: ReactNode }) {
  const [, go] = useLocation();
  const [over, setOver] = useState<"palette" | "help" | null>(null);
  useEffect(listenForShortcuts, []);
  useTabTitles();
  useShortcuts([
    ...PLACES.map(({ path, name, keys }) => ({ keys, does: `Go to ${name}`, act: () => go(path) })),
    { keys: "Mod-k", does: "Find anything", act: () => setOver("palette") },
    { keys: "?", does: "Show these keys", act: () => setOver("help") },
  ]);
  return (
    <div className="flex h-full flex-col md:flex-row">
      <a
        href="#screen"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded-md focus:bg-accent focus:px-3 focus:py-1.5 focus:text-accent-ink"
      >
        Skip to the screen
      </a>
      <Navigation onPalette={() => setOver("palette")} />
      <main id="screen" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
        <ConnectionBanner />
        {children}
      </main>
      <Palette open={over === "palette"} onClose={() => setOver(null)} />
      <Dialog open={over === "help"} onClose={() => setOver(null)} title="Keys">
        <ShortcutList />
      </Dialog>
      <Toasts />
    </div>
  );
}

function ShortcutList() {
  return (
    <dl className="grid grid-cols-[auto_1fr] items-center gap-x-4 gap-y-1.5 text-sm">
      {allShortcuts().map(({ keys, does }) => (
        <div key={`${keys} ${does}`} className="contents">
          <dt>
            <KeyHint keys={keys.replace("Mod-", `${MOD} `)} />
          </dt>
          <dd className="text-ink-2">{does}</dd>
        </div>
      ))}
    </dl>
  );
}

function ConnectionBanner() {
  const { connection } = useNews();
  if (connection === "open" || connection === "connecting") return null;
  return (
    <p role="alert" className="border-b border-line bg-warn-soft px-4 py-1.5 text-center text-xs text-warn">
      {connection === "lost"
        ? "The server does not answer. Reconnecting… If it was stopped, start it again with: retinue serve. What you see is kept, and what happened meanwhile will be here."
        : "This browser's link has expired. Run `retinue serve` in a terminal for a new one."}
    </p>
  );
}
