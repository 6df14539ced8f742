import type { RunDetail, RunDiff } from "@retinue/core/schema/api/inspect";
import { ExternalLink, FileText, Frame } from "lucide-react";
import { useState } from "react";
import { withQuery } from "../../../data/client.ts";
import { useSession } from "../../../live/use-session.tsx";
import { Button } from "../../../ui/controls.tsx";
import { Failed, Loading } from "../../../ui/states.tsx";
import { DiffView } from "../../../ui/text/diff-view.tsx";
import { useIsPast } from "../playhead/playhead-scope.tsx";
import { Nothing, PaneSection, type TabProps, useRunDiff } from "./section.tsx";

type RunFile = RunDetail["files"][number];

/** Files that the run left behind, and what it and everything below it changed. */
export function FilesTab({ run, detail: { files } }: TabProps) {
  const { data, isError, error, refetch } = useRunDiff(run);
  const isReplayed = useIsPast();
  // The record names files when a run ends; what was changed is known only as it is now.
  if (isReplayed && run.endMs === null) return <Nothing>It had not ended at this moment.</Nothing>;
  return (
    <>
      <PaneSection title="Left behind">
        {files.length === 0 ? (
          <Nothing>This run names no files.</Nothing>
        ) : (
          <ul className="grid gap-1">
            {productsFirst(files).map((file) => (
              <FileItem key={`${file.root} ${file.path}`} file={file} />
            ))}
          </ul>
        )}
      </PaneSection>
      <PaneSection title="Changed, with everything below it">
        {isError ? (
          <Failed failure={error} onRetry={() => void refetch()} />
        ) : data ? (
          <Changes diff={data} />
        ) : (
          <Loading rows={3} label="Loading changes" />
        )}
      </PaneSection>
    </>
  );
}

/** What was made for the person comes before what was needed on the way. */
function productsFirst(files: readonly RunFile[]): RunFile[] {
  const rank = ({ path }: RunFile) => (path.startsWith("work_products/") ? 0 : 1);
  return files.toSorted((one, other) => rank(one) - rank(other));
}

function FileItem({ file: { path, root, exists } }: { file: RunFile }) {
  const { sessionId } = useSession();
  const [isShown, setShown] = useState(false);
  const href = withQuery(`/api/sessions/${sessionId}/files`, { path });
  const isPage = /\.html?$/i.test(path);
  const canOpen = exists && root === "workspace";
  return (
    <li className="rounded-md border border-line">
      <div className="flex min-h-9 items-center gap-2 px-2.5 text-sm">
        <FileText aria-hidden className="size-3.5 shrink-0 text-ink-3" />
        <span className="min-w-0 flex-1 py-1 font-mono text-xs wrap-anywhere">{path}</span>
        <span className="shrink-0 text-2xs text-ink-3">{exists ? root : "not there any more"}</span>
        {canOpen && isPage && (
          <Button small aria-expanded={isShown} onClick={() => setShown(!isShown)}>
            <Frame aria-hidden className="size-3" /> {isShown ? "Hide" : "Show"}
            <span className="sr-only"> {path}</span>
          </Button>
        )}
        {canOpen && !isPage && (
          <a
            href={href}
            target="_blank"
            rel="noopener noreferrer"
            className="inline-flex h-6 items-center gap-1 rounded-md px-1.5 text-xs font-medium text-accent hover:bg-hover"
          >
            <ExternalLink aria-hidden className="size-3" /> Open<span className="sr-only"> {path}</span>
          </a>
        )}
      </div>
      {isShown && (
        <iframe
          title={path}
          src={href}
          sandbox=""
          className="h-[60vh] w-full rounded-b-md border-t border-line bg-white"
        />
      )}
    </li>
  );
}

function Changes({ diff: { folders, unkept } }: { diff: RunDiff }) {
  const changed = folders.filter(({ files }) => files.length > 0);
  if (changed.length === 0 && unkept.length === 0) return <Nothing>Nothing was changed.</Nothing>;
  return (
    <div className="grid gap-3">
      {changed.map(({ root, isProject, files }) => (
        <div key={root} className="grid gap-1">
          <p className="text-2xs wrap-anywhere text-ink-3">{isProject ? "In the project" : root}</p>
          {files.map((file) => (
            <details key={file.path} open={files.length === 1} className="min-w-0">
              <summary className="flex cursor-pointer items-center gap-2 rounded-md border border-line px-2.5 py-1.5 text-xs hover:bg-hover">
                <span className="min-w-0 flex-1 font-mono wrap-anywhere">{file.path}</span>
                <span className="text-ink-3">{file.kind}</span>
                {file.added !== null && <span className="figures text-ok">+{file.added}</span>}
                {file.removed !== null && <span className="figures text-bad">−{file.removed}</span>}
              </summary>
              <div className="mt-1">
                {file.patch ? (
                  <DiffView patch={file.patch} label={`Changes of ${file.path}`} />
                ) : (
                  <Nothing>Not text, or nothing that could be shown.</Nothing>
                )}
              </div>
            </details>
          ))}
        </div>
      ))}
      {unkept.length > 0 && (
        <p className="text-xs wrap-anywhere text-warn">
          What these held before was not kept: {unkept.join(", ")}
        </p>
      )}
    </div>
  );
}
