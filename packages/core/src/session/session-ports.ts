import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../budget/clock.ts";
import { Limiter } from "../budget/limiter.ts";
import { PARENT_AT_LIMIT } from "../delegate/children.ts";
import { openDelegation } from "../delegate/delegations.ts";
import { deliver } from "../delegate/deliver.ts";
import { failedResult } from "../delegate/failed-result.ts";
import { writeInside } from "../files/open-inside.ts";
import { taint } from "../run/calls/dispatch.ts";
import { EarlierCalls } from "../run/earlier-calls.ts";
import { KnownAddresses } from "../run/known-addresses.ts";
import type { LoopPorts, Redactor } from "../run/ports.ts";
import type { ProjectText } from "../run/project-text.ts";
import type { Journal } from "../schema/record.ts";
import type { Approver, PermissionMode } from "./approvals.ts";
import { createId } from "./create-id.ts";
import type { EventBus } from "./event-bus.ts";
import type { Host, LiveRun } from "./host.ts";
import type { Observations } from "./observations.ts";
import type { RecordedAsks } from "./recorded-asks.ts";
import { createToolCache } from "./tool-cache.ts";

/** What the ports of a session are built from. */
export type PortParts = {
  host: Host;
  bus: EventBus;
  clock: Clock;
  journal: Journal;
  redactor: Redactor;
  approve: Approver;
  asks: Pick<RecordedAsks, "runEnded">;
  mode: PermissionMode;
  recorded: LoopPorts["recorded"];
  live: ReadonlyMap<string, LiveRun>;
  limiters: Map<string, Limiter>;
  maxConcurrent: (provider: string) => number;
  liveLayers: LoopPorts["liveLayers"];
  random: () => number;
  projectText: ProjectText;
  observations: Observations;
};

/** What the runs of one session need from outside. */
export function createSessionPorts(parts: PortParts): LoopPorts {
  const { host, bus, clock, live, limiters } = parts;
  const failed: LoopPorts["failedChild"] = ({ spec }, { id, agent }, error) =>
    failedResult(
      { runId: id, sessionId: spec.sessionId, agent },
      { ...error, message: parts.redactor.redact(error.message) },
    );
  const ports: LoopPorts = {
    journal: parts.journal,
    clock,
    guards: host.guards,
    redactor: parts.redactor,
    cache: createToolCache(),
    recorded: parts.recorded,
    claims: new Map(),
    addresses: new KnownAddresses(host.settings.web.allowHosts),
    projectText: parts.projectText,
    earlier: new EarlierCalls(),
    readOnly: parts.mode === "plan",
    approve: parts.approve,
    keepChanges: host.changes.keep,
    untrusted: host.untrusted,
    createId,
    random: parts.random,
    watched: () => bus.watched,
    liveLayers: parts.liveLayers,
    groupsOf: (tool) => host.tools.get(tool)?.groups,
    emit(sessionId, event, seq) {
      if (event.type === "run.ended") parts.asks.runEnded(event.runId);
      if (bus.watched)
        bus.publish({ ...event, sessionId, atMs: clock.wallMs(), ...(seq !== undefined && { seq }) });
    },
    limiter(provider) {
      let limiter = limiters.get(provider);
      if (!limiter) {
        limiter = new Limiter(parts.maxConcurrent(provider), clock, parts.random);
        limiters.set(provider, limiter);
      }
      return limiter;
    },
    saveText: (text) => host.store.savePrompt(text),
    async saveArtefact(run, name, text) {
      const { workspaceDir, runId } = run.spec;
      const path = join(workspaceDir, "artefacts", `${runId}-${name.replaceAll(/[^\w.-]/g, "_")}`);
      if (parts.recorded) return path;
      await mkdir(workspaceDir, { recursive: true, mode: 0o700 });
      await writeInside(workspaceDir, path, text);
      return path;
    },
    childId: (run, callId) => live.get(run.spec.runId)?.children?.idFor({ callId }) ?? createId("run"),
    startChild: async (run, request, about) => {
      const children = live.get(run.spec.runId)?.children;
      if (children) return children.startFor(request, about);
      const message = `${run.spec.agent.name} has ended, so nothing can be started below it`;
      return failed(
        run,
        { id: about.id, agent: request.agent },
        { type: "cancelled", message, recoverable: false },
      );
    },
    failedChild: failed,
    finishChildren: async (run, callId) => live.get(run.spec.runId)?.children?.finish(callId),
    async playChildren(run, callId, rowId) {
      const children = live.get(run.spec.runId)?.children;
      const started = parts.recorded?.startedIn(run, callId) ?? [];
      const signal = new AbortController().signal;
      await Promise.all(
        started.map(({ callId: own, ...request }) => {
          const id = children?.idFor({ callId: own }) ?? "";
          return children?.startFor(request, { id, callId: own, rowId, signal });
        }),
      );
    },
    observed: ({ spec }, path, text) => parts.observations.add(path, text, spec.runId),
    openDelegations: (run) =>
      live.get(run.spec.runId)?.children?.delegations.undelivered().map(openDelegation) ?? [],
    owedDelegations: (run) =>
      run.spec.mandatory.filter(
        ({ agent }) => live.get(run.spec.runId)?.children?.hasDelegatedTo(agent) !== true,
      ),
    async remainingResults(run, how = "wait") {
      const children = live.get(run.spec.runId)?.children;
      if (children && how === "stop") children.stop(PARENT_AT_LIMIT);
      parts.recorded?.tellAll(run);
      const open = children?.delegations.undelivered() ?? [];
      if (!children || open.length === 0) return null;
      await children.waiting(Promise.all(open.map((delegation) => delegation.done)));
      const output = deliver(children, open, "ended");
      if (output.tainted) taint(run, "collect_results", ports);
      if (output.privateData) run.privateData = true;
      const text = parts.redactor.redact(output.text);
      return `These sub-agents had not been collected yet. Take their results into account, then finish.\n${text}`;
    },
  };
  return ports;
}
