import { Monitor, Moon, Sun } from "lucide-react";
import type { ComponentType } from "react";
import type { ThemeChoice } from "./theme.ts";

type Look = { name: string; icon: ComponentType<{ className?: string }> };

/** What each theme is called, and its icon. */
export const THEMES: Readonly<Record<ThemeChoice, Look>> = {
  system: { name: "System theme", icon: Monitor },
  light: { name: "Light theme", icon: Sun },
  dark: { name: "Dark theme", icon: Moon },
};

/** The themes in the order they are offered. */
export const THEME_CHOICES: readonly ThemeChoice[] = ["system", "light", "dark"];
