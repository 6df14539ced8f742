// Before the first paint, so that a dark page never flashes white.
(() => {
  const chosen = localStorage.getItem("retinue.theme");
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
})();

// What the address will need is asked for while the code of its screen is still on the way.
(() => {
  const [, screen, id] = /^\/(chat|trace)\/([\w-]+)$/.exec(location.pathname) ?? [];
  if (!id) return;
  const path = `/api/sessions/${id}${screen === "trace" ? "/trace" : "?limit=300"}`;
  const answer = fetch(path);
  // Whoever takes it learns of a failure; if nobody does, it is nobody's.
  answer.catch(() => {});
  globalThis.retinueEarly = { path, answer };
})();
