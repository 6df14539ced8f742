import { hostOf } from "@retinue/core/net/web-address";
import type { WebSettings } from "@retinue/core/schema/settings";
import type { Egress, EgressFailure } from "../egress/egress-guard.ts";
import type { ExtractedPage } from "../extract/extract-page.ts";
import type { LocalDocuments } from "../search/local-documents.ts";

/** A page that was got and read, or why not. */
export type ReadPage =
  | { status: "read" /** After redirects. */; url: string; page: ExtractedPage }
  | { status: "failed"; kind: EgressFailure | "unreadable"; reason: string };

/** How one page is wanted. */
type ReadOptions = {
  signal: AbortSignal;
  images?: boolean;
  deadlineMs?: number;
  /** Whether a redirect may lead to this host; asked before it is followed. */
  mayVisit?: (host: string) => boolean;
};

/** Gets a page past the guard and reads it in a thread. Rejects only when the signal aborts. */
export type ReadWebPage = (url: string, options: ReadOptions) => Promise<ReadPage>;

/** What pages are got and read with. */
type WebHost = { readPage: ReadWebPage; close(): Promise<void> };

/** Parts of a web host that its owner chooses. */
export type WebHostOptions = {
  web: WebSettings;
  /** Documents of this machine, which are read like pages. */
  documents?: Pick<LocalDocuments, "has" | "read" | "findTarget">;
  /** Instead of one made from the settings. */
  egress?: Egress;
  /** Hides secrets in what was read, before anything is made of it. */
  redact?: (text: string) => string;
};

/** Creates the way to pages; network and readers are loaded with the first one. */
export function createWebHost({ web, documents, egress, redact }: WebHostOptions): WebHost {
  let made: Promise<Egress> | undefined;
  const findEgress = async () => {
    const { createEgress } = await import("../egress/egress-guard.ts");
    return createEgress({ allowHosts: web.allowHosts });
  };
  return {
    async readPage(address, { signal, images = false, deadlineMs, mayVisit }) {
      made ??= egress ? Promise.resolve(egress) : findEgress();
      const { fetchPage } = await import("../egress/guarded-fetch.ts");
      const maxBytes = web.maxPageMb * 1_000_000;
      const document = await documents?.read(address, maxBytes);
      signal.throwIfAborted();
      const got =
        document ??
        (await fetchPage(address, {
          egress: await made,
          signal,
          maxBytes,
          ...(deadlineMs !== undefined && { deadlineMs }),
          ...(web.userAgent !== undefined && { userAgent: web.userAgent }),
          // The first address was judged before the call.
          ...(mayVisit && { mayVisit: ({ hostname }) => hostname === hostOf(address) || mayVisit(hostname) }),
        }));
      if (got.status === "failed") return got;
      const { sharedExtractionPool } = await import("../extract/worker-pool.ts");
      const { text, url, contentType } = got;
      const read = await sharedExtractionPool().extract({ text, url, contentType, images }, signal);
      return read.status === "read"
        ? { status: "read", url, page: redact ? redacted(read.page, redact) : read.page }
        : { status: "failed", kind: "unreadable", reason: read.reason };
    },
    close: async () => {
      if (!egress) await (await made)?.close();
    },
  };
}

function redacted(page: ExtractedPage, redact: (text: string) => string): ExtractedPage {
  const { title, markdown, author } = page;
  const hidden = { title: redact(title), markdown: redact(markdown) };
  return { ...page, ...hidden, ...(author !== undefined && { author: redact(author) }) };
}
