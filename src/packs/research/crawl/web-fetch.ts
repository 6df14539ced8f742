import type { AnyTool } from "../../../tools/tool.ts";
import { localDocumentsOf } from "../search/local-documents.ts";
import { createWebFetch } from "../web-tools.ts";
import { createPageFetcher, createWebHost } from "./web-host.ts";

/** Gets one page as the settings say; the runtime takes the one of its settings. */
export const webFetch: AnyTool = {
  ...createWebFetch({}),
  withSettings({ web, search }, places) {
    const documents = localDocumentsOf(search, places);
    const host = createWebHost({ web, documents });
    const targetOf = documents.targetOf.bind(documents);
    return { ...createWebFetch({ fetch: createPageFetcher(host), targetOf }), close: host.close };
  },
};
