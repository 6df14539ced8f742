import type { SearchSettings } from "../schema/settings.ts";

/** Without settings `web_search` looks through the documents of the project. */
export const DEFAULT_SEARCH: SearchSettings = Object.freeze({ folders: ["."] });
