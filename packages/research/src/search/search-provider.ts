import type { ToolContext } from "@retinue/core/tools/tool";

/** One hit of a search. */
export type SearchHit = { title: string; url: string; snippet: string };

/** How a search is made, and for which run. */
export type SearchOptions = {
  limit: number;
  signal: AbortSignal;
  run: Pick<ToolContext, "projectDir" | "workspaceDir" | "maySee" | "progress">;
};

/** Where searches go: local documents, or a search engine. */
export type SearchProvider = {
  readonly name: string;
  /** Hosts that a search talks to, which rules may name. */
  readonly hosts: readonly string[];
  /** A search that fails rejects with an error in words for a model and a person, in which no key is. */
  search(query: string, options: SearchOptions): Promise<readonly SearchHit[]>;
  /** Lets go of what it holds open. */
  close?(): Promise<void> | void;
};
