import type { Project } from "../runtime/project/load-project.ts";
import type { Environment } from "../runtime/project/places.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { HealthView } from "../schema/api/inspect.ts";
import type { SessionRow } from "../schema/record.ts";
import type { BlobStore } from "../store/checkpoints/blob-store.ts";
import type { Store } from "../store/create-store.ts";
import type { StatsAside } from "../store/stats/stats-aside.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { Feeds } from "./feed/feeds.ts";
import type { PersonsDesk } from "./feed/persons-desk.ts";

/** The project as it is on disk now. Agents are read again before they are listed and before anything begins. */
export type LiveProject = {
  readonly projectDir: string;
  /** As last read. */
  current(): Project;
  /** Reads settings and agents again; running agents keep what they began with. */
  reload(): Promise<Project>;
};

/** What the routes work with. */
export type Desk = {
  readonly runtime: Runtime;
  readonly project: LiveProject;
  readonly tools: readonly AnyTool[];
  readonly blobs: BlobStore;
  readonly feeds: Feeds;
  /** Reads figures without holding up the server; absent: on the spot. */
  readonly stats?: StatsAside;
  /** Where calls wait for a person's word. */
  readonly person: PersonsDesk;
  /** The variables that keys and models are found by. */
  readonly env?: Environment;
  readonly version: string;
  readonly startedAtMs: number;
  /** The agent that answers unless another is chosen. */
  readonly agent: string;
  /** The model that is chosen for every root run; undefined leaves it to agents and settings. */
  readonly model: string | undefined;
  readonly permissionMode: string;
  /** Sessions whose tool calls wait a moment each, to be watched. */
  readonly paced: Set<string>;
  /** Looks at everything that a run needs; handed in by whoever starts the server. */
  checkHealth(): Promise<HealthView["checks"]>;
  /** A session as a document to keep; handed in likewise, because the command line makes the same. */
  renderSession?(store: Store, session: SessionRow, format: "md" | "html"): Promise<string>;
};
