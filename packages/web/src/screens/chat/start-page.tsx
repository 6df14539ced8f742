import type { About } from "@retinue/core/schema/api/inspect";
import type { SessionCard, SessionList, Started, StartRequest } from "@retinue/core/schema/api/session";
import { showCost, showCount } from "@retinue/core/show/measures";
import { nameSessionStatus } from "@retinue/core/show/standing";
import { ArrowRight, LoaderCircle, WifiOff } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Link, useLocation } from "wouter";
import { api } from "../../data/client.ts";
import { renew, useAbout, useFetched } from "../../data/queries.ts";
import { useTabTitle } from "../../frame/places.ts";
import { useShortcuts } from "../../frame/shortcuts.ts";
import { useNow } from "../../live/signal.ts";
import { TextLink } from "../../ui/controls.tsx";
import { showAge } from "../../ui/show-moment.ts";
import { Failed } from "../../ui/states.tsx";
import { StatusBadge } from "../../ui/status.tsx";
import { attempt } from "../../ui/toast.tsx";
import { AgentPicker, Composer } from "./composer.tsx";

/** A device with a pointer has a keyboard, too; on others the field would bring one up. */
const HAS_KEYS = matchMedia("(hover: hover)").matches;

/** Where a conversation begins: a field, a few things to try, and what was there before. */
export function StartPage() {
  useTabTitle("New chat");
  const [, go] = useLocation();
  const { data: about, error, refetch } = useAbout();
  const [chosen, setChosen] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  useShortcuts([{ keys: "/", does: "Write a message", act: () => field.current?.focus() }]);
  useEffect(() => {
    if (HAS_KEYS) field.current?.focus();
  }, []);
  const agent = chosen ?? about?.agent ?? "main";
  const isOffline = about?.model.isOffline === true;
  const start = async (task: string, by: string | null = chosen, paced = false) => {
    const request: StartRequest = { task, ...(by !== null && { agent: by }), ...(paced && { paced }) };
    const { sessionId } = await api.post<Started>("/api/sessions", request);
    void renew({ queryKey: ["sessions"] });
    go(`/chat/${sessionId}`);
  };
  return (
    <div className="min-h-0 flex-1 overflow-y-auto">
      <div className="mx-auto grid max-w-3xl gap-6 px-4 pt-[max(2rem,10vh)] pb-10">
        <div className="grid gap-1 text-center">
          <h1 className="text-xl font-semibold tracking-tight text-balance">What would you like done?</h1>
          <p className="text-sm text-pretty text-ink-2">
            An agent takes it on, hands parts of it to sub-agents, and you can watch each of them.
          </p>
        </div>
        {error && <Failed failure={error} onRetry={() => void refetch()} />}
        <div className="grid gap-2">
          <Composer
            ref={field}
            place="new"
            roomy
            placeholder={
              HAS_KEYS ? "Describe a task. Enter sends, Shift-Enter makes a new line." : "Describe a task."
            }
            onSend={(task) => start(task)}
          >
            <AgentPicker agent={agent} onPick={setChosen} />
          </Composer>
          {isOffline && <OfflineNote />}
        </div>
        {about && (
          <Examples
            examples={about.examples}
            isPaced={isOffline}
            onStart={({ task, agent: by }) => start(task, by, isOffline)}
          />
        )}
        <RecentSessions />
      </div>
    </div>
  );
}

function OfflineNote() {
  return (
    <p className="flex items-start gap-2 px-1 text-xs text-ink-2">
      <WifiOff aria-hidden className="mt-0.5 size-3.5 shrink-0 text-warn" />
      <span>
        No key is set, so the <strong className="font-semibold text-warn">offline model</strong> answers: it
        follows rules and costs nothing. The examples work with it.{" "}
        <TextLink href="/health">Add a key</TextLink>
      </span>
    </p>
  );
}

type Example = About["examples"][number];

type ExamplesProps = {
  examples: readonly Example[];
  isPaced: boolean;
  onStart: (example: Example) => Promise<void>;
};

function Examples({ examples, isPaced, onStart }: ExamplesProps) {
  const [begun, setBegun] = useState<string | null>(null);
  if (examples.length === 0) return null;
  const begin = async (example: Example) => {
    setBegun(example.title);
    if (!(await attempt(() => onStart(example)))) setBegun(null);
  };
  return (
    <section aria-labelledby="examples" className="grid gap-2">
      <h2 id="examples" className="px-1 text-xs font-semibold text-ink-3">
        Try one
        {isPaced && (
          <span className="font-normal">
            {" "}
            · rules are fast, so each call waits a moment for you to follow
          </span>
        )}
      </h2>
      <ul className="grid gap-2 sm:grid-cols-2">
        {examples.map((example) => (
          <li key={example.title} className="grid">
            <button
              type="button"
              disabled={begun !== null}
              onClick={() => void begin(example)}
              className="group grid content-start gap-0.5 rounded-lg border border-line bg-panel px-3 py-2.5 text-left transition-colors hover:border-line-strong hover:bg-hover"
            >
              <span className="flex items-center gap-2 text-sm font-medium">
                {example.title}
                {begun === example.title ? (
                  <LoaderCircle aria-hidden className="ml-auto size-3.5 animate-spin text-run" />
                ) : (
                  <ArrowRight
                    aria-hidden
                    className="ml-auto size-3.5 text-ink-3 transition-transform group-hover:translate-x-0.5"
                  />
                )}
              </span>
              <span className="line-clamp-2 text-xs text-ink-2">{example.task}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

const MOST = 8;

function RecentSessions() {
  const { data, error, refetch } = useFetched<SessionList>(
    ["sessions", "recent"],
    `/api/sessions?limit=${MOST}`,
  );
  const now = useNow(true);
  if (error && !data) return <Failed failure={error} onRetry={() => void refetch()} />;
  if (!data || data.sessions.length === 0) return null;
  return (
    <section aria-labelledby="recent" className="grid gap-1">
      <div className="flex items-baseline justify-between px-1">
        <h2 id="recent" className="text-xs font-semibold text-ink-3">
          Recent
        </h2>
        <Link href="/runs" className="text-xs text-accent hover:underline">
          All runs
        </Link>
      </div>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-panel">
        {data.sessions.map((session) => (
          <li key={session.session_id}>
            <RecentSession session={session} now={now} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function RecentSession({ session, now }: { session: SessionCard; now: number }) {
  const { session_id: id, title, runs, cost_usd: cost, updated_at: updatedAt } = session;
  return (
    <Link href={`/chat/${id}`} className="flex items-center gap-3 px-3 py-2 hover:bg-hover">
      <span className="min-w-0 flex-1 truncate text-sm" title={title || id}>
        {title || id}
      </span>
      <StatusBadge standing={nameSessionStatus(session)} />
      <span className="figures w-16 shrink-0 text-right text-xs text-ink-3 max-sm:hidden">
        {showCount(runs, "run")}
      </span>
      <span className="figures w-14 shrink-0 text-right text-xs text-ink-3 max-sm:hidden">
        {showCost(cost)}
      </span>
      <span className="figures w-16 shrink-0 text-right text-xs text-ink-3">
        {showAge(Date.parse(updatedAt), now)}
      </span>
    </Link>
  );
}
