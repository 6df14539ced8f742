import { createStore, type Store, type StoreOptions, type StorePorts } from "../create-store.ts";
import type { Record } from "../record.ts";
import { createStatsAside, type StatsAside } from "../stats/stats-aside.ts";

/** Opens the record in an SQLite file, making or migrating it as needed. */
export function createSqliteRecord(options: StoreOptions, ports: Partial<StorePorts> = {}): Record {
  return recordOver(createStore(options, ports));
}

/** The record over a store that is open. */
export function recordOver(store: Store): Record {
  let asideReader: StatsAside | undefined;
  return {
    reserveRowIds: async (count) => store.reserveRowIds(count),
    async write(write) {
      switch (write.kind) {
        case "session.update":
          store.updateSession(write.sessionId, write.change);
          break;
        case "text.save":
          store.savePrompt(write.text);
          break;
        case "change.open":
          store.openChange(write.change);
          break;
        case "change.close":
          store.closeChange(write.changeId, write.after);
          break;
        case "worktree.save":
          store.saveWorktree(write.row);
          break;
        case "row.open":
          store.open(write.row, write.onCommit, write.id);
          break;
        case "row.close":
          store.close(write.id, write.sessionId, write.row, write.onCommit);
          break;
      }
      await store.committed();
    },
    committed: () => store.committed(),
    written: () => store.written(),
    writeProblem: async () => store.writeProblem(),
    async startSession(row) {
      store.startSession(row);
      await store.committed();
    },
    listSessions: async (query) => store.searchSessions(query),
    readSession: async (sessionId) => store.session(sessionId),
    findSession: async (prefix) => store.findSession(prefix),
    readFigures: async (sessionId) => store.sessionFigures(sessionId),
    readVersion: async () => ({ changed: store.lastChange(), others: store.othersVersion() }),
    async takeLease(sessionId, onLost) {
      const release = store.takeLease(sessionId, onLost);
      return async () => release();
    },
    letGo: async (sessionId) => store.letGo(sessionId),
    findHolder: async (sessionId) => store.holderOf(sessionId),
    askToStop: async (request) => store.askToStop(request),
    listStops: async (sessionId) => store.stopsAsked(sessionId),
    forgetStops: async (sessionId) => store.forgetStops(sessionId),
    readRow: async (id) => store.message(id),
    async readRows(query) {
      const { kind, after = 0, limit = -1, chars } = query;
      if ("parentId" in query) return store.children(query.parentId);
      if (!("sessionId" in query)) return query.runIds.flatMap((runId) => store.attemptsOf(runId));
      const { sessionId, runIds } = query;
      if (kind === "runs") return store.runs(sessionId);
      if (kind === "steps" && chars !== undefined)
        return store.stepsAfter({ sessionId, runId: runIds?.[0], after, limit, chars });
      return runIds ? store.stepsOf(sessionId, runIds) : store.messages(sessionId);
    },
    readOutline: async ({ sessionId, ...part }) => store.runOutline(sessionId, part),
    readLog: async ({ sessionId, after = 0, limit }) => store.changesAfter(sessionId, after, limit),
    readMoments: async ({ sessionId, after = 0, limit = -1 }) => store.momentsAfter(sessionId, after, limit),
    readLastSeq: async (sessionId) => store.lastSeq(sessionId),
    countSteps: async (sessionId) => store.stepCounts(sessionId),
    findRuns: async (prefix) => store.runsLike(prefix),
    readText: async (id) => store.prompt(id),
    async readStats({ aside = false, ...query } = {}) {
      if (!aside || store.path === ":memory:")
        return { ...store.stats(query), days: store.statsByDay(query) };
      asideReader ??= createStatsAside(store.path);
      return asideReader.read(query);
    },
    addApproval: async (asked) => store.addApproval(asked),
    answerApproval: async (approvalId, answer) => store.answerApproval(approvalId, answer),
    findAnswer: async (call) => store.answerTo(call),
    findApproval: async (prefix) => store.findApproval(prefix),
    async listApprovals({ state, runId, ...query } = {}) {
      if (state === "answered") return store.answeredApprovals(query);
      if (runId !== undefined) return store.openApprovalsOf(runId).map((id) => store.findApproval(id));
      return store.approvals({ ...query, open: state === "waiting" });
    },
    countWaiting: async (query) => store.countWaiting(query),
    addPlan: async (plan) => store.addPlan(plan),
    changePlan: async (plan, from) => store.changePlan(plan, from),
    readPlan: async (planId) => store.plan(planId),
    findPlan: async (prefix) => store.findPlan(prefix),
    async listPlans({ limit = 50, ...query } = {}) {
      if (limit < 0) return { plans: store.plans({ ...query, limit }), next: null };
      return store.planPage({ ...query, limit });
    },
    listChanges: async (query) =>
      "ids" in query ? store.changesOf(query.ids) : store.changesSince(query.root, query.path, query.after),
    readLastChange: async () => store.lastClosedSeq(),
    findWorktree: async (query) =>
      "runId" in query ? store.worktree(query.runId) : store.worktreeAt(query.path),
    listWorktrees: async () => store.liveWorktrees(),
    async noteUntrusted({ size, ...about }) {
      if (size === undefined) store.noteUntrustedName(about);
      else store.noteUntrusted({ ...about, size });
    },
    openSpan: async (about) => store.openSpan(about),
    closeSpan: async (id, untilMs) => store.closeSpan(id, untilMs),
    hasUntrusted: async (roots) => store.hasUntrusted(roots),
    async isUntrusted(query) {
      if ("size" in query) return store.hasUntrustedSize(query.size);
      if ("hash" in query) return store.hasUntrustedHash(query.hash);
      if ("names" in query) return store.hasUntrustedName(query.names, query.roots);
      return store.isSpanOver(query.roots, query.atMs);
    },
    listUntrusted: async (query = {}) =>
      "openIn" in query ? store.openSpans(query.openIn) : store.untrustedFiles(query.project),
    trustNotes: async (ids) => store.trustNotes(ids),
    deleteSession: async (sessionId) => store.deleteSession(sessionId),
    whyKept: async (sessionId) => store.whyKept(sessionId),
    measureSession: async (sessionId) => store.sizeInRecord(sessionId),
    listContents: async () => store.neededContents(),
    measure: async () => store.fileSize(),
    compact: async () => store.compactFile(),
    async close() {
      await asideReader?.close();
      await store.shutdown();
    },
  };
}
