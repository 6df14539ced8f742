import { ArrowLeftRight, GitCompareArrows, ListChecks } from "lucide-react";
import { Link } from "wouter";
import { useNow } from "../../live/use-now.ts";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { Button } from "../../ui/button.tsx";
import { Keys } from "../../ui/keys.tsx";
import { ScreenHead } from "../../ui/screen-head.tsx";
import { Empty, Failed, Loading } from "../../ui/states.tsx";
import { tickedPath } from "../runs/use-ticks.ts";
import { Comparison } from "./comparison.tsx";
import { useCompareAddress } from "./use-compare-address.ts";
import { useCompared } from "./use-compared.ts";
import { type Side, useSide } from "./use-side.ts";

/** Two sessions beside each other: what they took, what they did, what they came to. */
export default function CompareScreen() {
  const address = useCompareAddress();
  const { a, b, swap } = address;
  const ids = [a, b].filter(Boolean);
  useShortcuts([{ keys: "s", does: "Swap A and B", act: swap }]);
  return (
    <>
      <ScreenHead title="Compare two sessions">
        <Link
          href={tickedPath(ids)}
          className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line-strong bg-panel px-2.5 text-sm font-medium hover:bg-hover"
        >
          <ListChecks aria-hidden className="size-3.5" />{" "}
          <span className="max-sm:sr-only">Choose others</span>
        </Link>
        <Button onClick={swap} disabled={ids.length < 2} title="Swap A and B">
          <ArrowLeftRight aria-hidden className="size-3.5" /> Swap
          <span className="max-sm:hidden">
            <Keys keys="s" />
          </span>
        </Button>
      </ScreenHead>
      {ids.length < 2 || a === b ? <TooFew a={a} b={b} /> : <Both address={address} />}
    </>
  );
}

function TooFew({ a, b }: { a: string; b: string }) {
  const isTwice = a !== "" && a === b;
  const ids = [...new Set([a, b])].filter(Boolean);
  return (
    <Empty icon={GitCompareArrows} title={isTwice ? "That is one session twice" : "It takes two to compare"}>
      <p>Tick two sessions in the list of runs, then choose Compare.</p>
      <Link href={tickedPath(ids)} className="mt-3 inline-block text-accent underline underline-offset-2">
        {ids.length === 0 ? "Tick two sessions" : "Tick another session"}
      </Link>
    </Empty>
  );
}

function Both({ address }: { address: ReturnType<typeof useCompareAddress> }) {
  const [one, other] = [useSide(address.a), useSide(address.b)];
  const isLive = one.card?.state === "running" || other.card?.state === "running";
  const nowMs = useNow(isLive);
  const a = useCompared(one, nowMs);
  const b = useCompared(other, nowMs);
  if (a && b) return <Comparison a={a} b={b} address={address} nowMs={nowMs} />;
  const failed = [one, other].filter(({ failure }) => failure !== null);
  if (failed.length === 0) return <Loading rows={12} label="Loading both sessions" />;
  const left = [one, other].filter(({ failure }) => failure === null);
  return failed.map((side) => <Missing key={side.sessionId} side={side} left={left} />);
}

function Missing({ side, left }: { side: Side; left: readonly Side[] }) {
  return (
    <Failed failure={side.failure} onRetry={side.retry}>
      <Link
        href={tickedPath(left.map(({ sessionId }) => sessionId))}
        className="text-accent underline underline-offset-2"
      >
        Tick another session
      </Link>
    </Failed>
  );
}
