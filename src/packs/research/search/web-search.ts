import type { AnyTool } from "../../../tools/tool.ts";
import { createWebSearch } from "../web-tools.ts";
import { chooseProvider } from "./choose-provider.ts";

/** Searches where the settings say; the runtime takes the one of its settings. */
export const webSearch: AnyTool = createWebSearch(undefined, {
  withSettings: ({ search }, places) => createWebSearch(chooseProvider(search, places)),
});
