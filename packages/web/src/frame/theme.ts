import { type LucideIcon, Monitor, Moon, Sun } from "lucide-react";
import { Signal, useSignal } from "../live/signal.ts";

/** What the person chose; `system` follows the machine. */
export type ThemeChoice = "system" | "light" | "dark";

const KEY = "retinue.theme";
const stored = localStorage.getItem(KEY);
const choice = new Signal<ThemeChoice>(stored === "light" || stored === "dark" ? stored : "system");
const system = matchMedia("(prefers-color-scheme: dark)");

function apply(): void {
  const isDark = choice.value === "system" ? system.matches : choice.value === "dark";
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
}

system.addEventListener("change", apply);

/** Chooses a theme and remembers it in this browser. */
export function chooseTheme(theme: ThemeChoice): void {
  if (theme === "system") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, theme);
  choice.set(theme);
  apply();
}

/** The chosen theme. */
export function useTheme(): ThemeChoice {
  return useSignal(choice);
}

type Look = { name: string; icon: LucideIcon };

/** What each theme is called, and its icon. */
export const THEMES: Readonly<Record<ThemeChoice, Look>> = {
  system: { name: "System theme", icon: Monitor },
  light: { name: "Light theme", icon: Sun },
  dark: { name: "Dark theme", icon: Moon },
};

/** The themes in the order they are offered. */
export const THEME_CHOICES = Object.keys(THEMES) as ThemeChoice[];
