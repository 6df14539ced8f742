import type { WebSettings } from "../schema/settings.ts";

/** How pages are asked for where the settings are silent. */
export const DEFAULT_WEB: WebSettings = Object.freeze({ allowHosts: [], maxPageMb: 5 });
