const KEY = "retinue.reloadedAt";
const PAUSE_MS = 10_000;

/**
 * Loads the page anew because a screen's own file is missing: a server that was replaced by a newer one has other files. Only
 * for a screen that cannot be drawn, since whatever is being typed on another one would be lost. While no server answers, the
 * page that is there is better than none.
 */
export async function reloadWhenUpdated(): Promise<void> {
  const isThere = await fetch("/api/about").then(
    () => true,
    () => false,
  );
  const before = Number(sessionStorage.getItem(KEY) ?? 0);
  if (!isThere || Date.now() - before < PAUSE_MS) return;
  sessionStorage.setItem(KEY, String(Date.now()));
  location.reload();
}
