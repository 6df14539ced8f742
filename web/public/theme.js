// Before the first paint, so that a dark page never flashes white.
(() => {
  const chosen = localStorage.getItem("retinue.theme");
  const isDark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
})();
