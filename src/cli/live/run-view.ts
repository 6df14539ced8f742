import type { Approver } from "../../runtime/approvals.ts";
import type { Listener } from "../../runtime/event-bus.ts";
import type { RunResult } from "../../schema/result.ts";
import { formatOf, type RunOptions } from "../run/run-options.ts";
import { createNotices, createProgress } from "../run/show-progress.ts";
import type { Terminal } from "../terminal.ts";
import { createAccount } from "./account.ts";
import { inForeground } from "./in-foreground.ts";

/** What a person sees on stderr while a task goes on. */
export type RunView = {
  /** To write with while the view is open. */
  readonly terminal: Terminal;
  take: Listener;
  /** The approver, with the terminal for itself while it asks. */
  asking(approver: Approver): Approver;
  /** Ends the view, so that results can be printed. */
  close(): void;
  /** Says in one line what the task took, if anything but the result is shown. */
  account(results: readonly RunResult[]): void;
};

/** Notices but for questions, once somebody asks those. */
type Asked = { isAsked: boolean };

/** Opens what the options and the terminal call for: a live tree, a line for each event, or notices alone. */
export async function openRunView(options: RunOptions, terminal: Terminal): Promise<RunView> {
  const format = formatOf(options);
  if (options.print || format === "stream-json") return plainView(terminal);
  const isText = format === "text";
  const live = isText ? await liveTerminal(terminal) : undefined;
  const view = live ?? plainView(terminal, createProgress(terminal, { endsWithError: isText }));
  return isText ? withAccount(view, terminal) : view;
}

function plainView(terminal: Terminal, progress?: Listener): RunView {
  const asked = { isAsked: false };
  const notices = noticesOf(terminal, asked);
  return {
    terminal,
    take(event) {
      notices(event);
      progress?.(event);
    },
    asking(approver) {
      asked.isAsked = true;
      return approver;
    },
    close() {},
    account() {},
  };
}

function noticesOf(terminal: Terminal, asked: Asked): Listener {
  const notices = createNotices(terminal);
  return (event) => {
    if (event.type !== "approval.requested" || !asked.isAsked) notices(event);
  };
}

async function liveTerminal(terminal: Terminal): Promise<RunView | undefined> {
  const { screen, env } = terminal;
  if (!screen || env.RETINUE_LINEAR === "1" || !(await inForeground())) return undefined;
  const { openLiveView } = await import("./live-view.ts");
  const live = openLiveView(terminal, screen);
  const above: Terminal = { ...terminal, tell: live.tell };
  const asked = { isAsked: false };
  const notices = noticesOf(above, asked);
  return {
    terminal: above,
    take(event) {
      live.take(event);
      notices(event);
    },
    asking(approver) {
      asked.isAsked = true;
      return (request, signal) => live.aside(() => approver(request, signal));
    },
    close: live.close,
    account() {},
  };
}

function withAccount(view: RunView, terminal: Terminal): RunView {
  const account = createAccount();
  return {
    ...view,
    take(event) {
      account.take(event);
      view.take(event);
    },
    account: (results) => terminal.tell(account.line(results, terminal.screen?.size().columns)),
  };
}
