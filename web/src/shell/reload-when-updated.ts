const KEY = "retinue.reloadedAt";
const PAUSE_MS = 10_000;

/** A server that was replaced by a newer one has other files: a part of the page that is missing means to load it anew. */
export function reloadWhenUpdated(): void {
  addEventListener("vite:preloadError", () => void reload());
}

/** While no server answers, the page that is there is better than none. */
async function reload(): Promise<void> {
  const isThere = await fetch("/api/about").then(
    () => true,
    () => false,
  );
  const before = Number(sessionStorage.getItem(KEY) ?? 0);
  if (!isThere || Date.now() - before < PAUSE_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
