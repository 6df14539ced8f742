import { ChevronRight } from "lucide-react";
import { Fragment } from "react";
import { AgentName } from "../face.tsx";

/** Who asks: every agent from the root down to the one that would make the call. */
export function AgentChain({ chain }: { chain: readonly string[] }) {
  return (
    <span className="inline-flex max-w-full flex-wrap items-center gap-x-1 gap-y-0.5 text-sm">
      {chain.map((name, depth) => (
        // An agent may stand in its own chain twice.
        <Fragment key={`${depth.toString()} ${name}`}>
          {depth > 0 && (
            <>
              <ChevronRight aria-hidden className="size-3 shrink-0 text-ink-3" />
              <span className="sr-only"> delegated to </span>
            </>
          )}
          <AgentName name={name} size="sm" />
        </Fragment>
      ))}
    </span>
  );
}
