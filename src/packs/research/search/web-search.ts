import type { AnyTool } from "../../../tools/tool.ts";
import { createWebSearch } from "../web-tools.ts";
import { chooseProvider } from "./choose-provider.ts";
import { localDocumentsOf } from "./local-documents.ts";

/** Searches where the settings say; the runtime takes the one of its settings. */
export const webSearch: AnyTool = createWebSearch(undefined, {
  withSettings({ search }, places) {
    const provider = chooseProvider(search, places);
    return createWebSearch(provider, {
      async close() {
        await provider.close?.();
        // Other tools may have opened them, whoever is asked here.
        await localDocumentsOf(search, places).close();
      },
    });
  },
});
