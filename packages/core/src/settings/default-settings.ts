import type { Settings } from "../schema/settings.ts";
import { SETTING_TABLE, type Setting } from "../schema/settings.ts";

const DEFAULTS: Readonly<Record<string, unknown>> = {
  ...collectDefaults(SETTING_TABLE),
  limits: {},
  agents: [],
};

/** What holds when nobody says otherwise. */
export const DEFAULT_SETTINGS = DEFAULTS as Settings;

/** How commands run, what is searched and how pages are asked for, where the settings are silent. */
export const { shell: DEFAULT_SHELL, web: DEFAULT_WEB } = DEFAULT_SETTINGS;

/** The defaults of some settings; a section without any is left out. */
function collectDefaults(parts: Readonly<Record<string, Setting>>): Record<string, unknown> {
  const entries = Object.entries(parts).map(([key, setting]) => {
    const inner = setting.parts && collectDefaults(setting.parts);
    return [key, inner && Object.keys(inner).length > 0 ? Object.freeze(inner) : setting.default] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
