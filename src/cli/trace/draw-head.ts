import type { Trace } from "../../schema/inspect/trace.ts";
import { countOf, showCost, showDuration } from "../measures.ts";
import { plainLine } from "../plain-text.ts";
import { cutTo } from "../tree/text-width.ts";
import type { Canvas } from "./canvas.ts";
import { statusWord } from "./describe-run.ts";

/** What a session is, how it stands and what it amounts to; and what to do about one that nobody works on. */
export function drawHead({ session, totals }: Trace, { glyphs, paint, width }: Canvas): string[] {
  const { id, state } = session;
  const line = (text: string) => cutTo(glyphs.text(text), width, glyphs.cut);
  const status = statusWord({ status: session.status, partial: false }, state, glyphs.status);
  const moment = `${session.createdAt.slice(0, 19).replace("T", " ")} UTC`;
  const facts = [
    countOf(totals.runs, "run"),
    ...(totals.agents > 1 ? [`${totals.agents} agents`] : []),
    ...(totals.atOnce > 1 ? [`${totals.atOnce} at once`] : []),
    countOf(totals.calls, "tool call"),
    countOf(totals.tokens, "token"),
    showCost(totals.costUsd),
    `${showDuration(totals.activeMs)} at work`,
  ];
  const next =
    state === "interrupted"
      ? [`go on with: retinue resume ${id}`]
      : state === "waiting"
        ? ["waits for a person: retinue approve"]
        : [];
  const title = cutTo(
    glyphs.text(plainLine(session.title, 200)),
    Math.max(10, width - id.length - 20),
    glyphs.cut,
  );
  return [
    `${paint.bold(id)}  ${status}  ${title}`,
    paint.dim(line(`${plainLine(session.project, 200)}  ${moment}`)),
    paint.dim(line(facts.join(` ${glyphs.dot} `))),
    ...next,
  ];
}
