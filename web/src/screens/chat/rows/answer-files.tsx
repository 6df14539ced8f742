import { useQueries } from "@tanstack/react-query";
import { FileText } from "lucide-react";
import { withQuery } from "../../../api/client.ts";
import { useSignal } from "../../../live/signal.ts";
import { useSession } from "../../../live/use-session.tsx";
import { detailQuery } from "../card/use-run.ts";

const MOST_LOOKED_AT = 8;
const MOST_SHOWN = 8;
/** Where runs put what is meant for the person. */
const PRODUCTS = "work_products/";

/** What a root run and those it delegated to have made for the person, to be opened. */
export function AnswerFiles({ runId }: { runId: string }) {
  const store = useSession();
  const children = useSignal(store.children(runId));
  const files = useQueries({
    queries: [runId, ...children.slice(0, MOST_LOOKED_AT)].map((id) => detailQuery(id, "ended")),
    combine: (details) =>
      details
        .flatMap(({ data }) => data?.files ?? [])
        .filter(({ path, root, exists }) => exists && root === "workspace" && path.startsWith(PRODUCTS))
        .map(({ path }) => path),
  });
  const paths = [...new Set(files)].slice(0, MOST_SHOWN);
  if (paths.length === 0) return null;
  return (
    <ul aria-label="Files" className="flex flex-wrap gap-1.5">
      {paths.map((path) => (
        <li key={path} className="min-w-0">
          <a
            href={withQuery(`/api/sessions/${store.sessionId}/files`, { path })}
            target="_blank"
            rel="noopener noreferrer"
            className="flex h-7 items-center gap-1.5 rounded-md border border-line bg-panel px-2 text-xs hover:bg-hover"
          >
            <FileText aria-hidden className="size-3.5 shrink-0 text-accent" />
            <span className="truncate">{path.slice(PRODUCTS.length)}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}
