import type { Terminal } from "../terminal.ts";
import type { Tui } from "./tui.ts";

/** Says how to go on with the conversation later, if there was one. */
export function sayFarewell(tui: Tui, terminal: Terminal): void {
  const { sessionId } = tui.snapshot().state;
  if (sessionId !== null) terminal.tell(`session ${sessionId} · go on with: retinue tui -r ${sessionId}`);
}
