import { type Diagnostic, setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { useEffect, useRef } from "react";
import type { Problem } from "../../../../../src/schema/agent.ts";
import { useSignal } from "../../../live/signal.ts";
import type { Draft } from "../draft/draft.ts";
import { useDraft, useIsReadOnly } from "../draft/use-draft.tsx";
import { rawExtensions } from "./raw-extensions.ts";

/** The file itself. Its history holds what the form changed too, and outlives the pane. */
export default function RawPane() {
  const draft = useDraft();
  const readOnly = useIsReadOnly();
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const review = useSignal(draft.review);
  useEffect(() => {
    if (!place.current) return;
    const opened = new EditorView({
      parent: place.current,
      state: draft.rawState ?? firstState(draft, readOnly),
    });
    view.current = opened;
    const follow = () => bring(opened, draft.text.value);
    follow();
    const jump = () => show(opened, draft);
    // Only once it is on the page can it be scrolled and take the focus.
    const frame = requestAnimationFrame(jump);
    const stops = [draft.text.subscribe(follow), draft.jump.subscribe(jump)];
    return () => {
      cancelAnimationFrame(frame);
      for (const stop of stops) stop();
      draft.rawState = opened.state;
      opened.destroy();
      view.current = null;
    };
  }, [draft, readOnly]);
  useEffect(() => {
    const { current } = view;
    if (current && review)
      current.dispatch(setDiagnostics(current.state, found(current.state, review.problems)));
  }, [review]);
  return <div ref={place} className="h-full min-h-96 overflow-hidden [&>.cm-editor]:min-h-96" />;
}

function firstState(draft: Draft, readOnly: boolean): EditorState {
  const { value: doc } = draft.text;
  return EditorState.create({
    doc,
    extensions: [
      // A file that ends its lines as Windows does keeps them.
      ...(/^[^\n]*\r\n/.test(doc) && !/[^\r]\n/.test(doc) ? [EditorState.lineSeparator.of("\r\n")] : []),
      ...rawExtensions({ readOnly, onText: (text) => draft.type(text) }),
    ],
  });
}

/** Changes only what differs, so that the cursor stays where it is. */
function bring(view: EditorView, file: string): void {
  const before = view.state.doc.toString();
  const text = file.replaceAll("\r\n", "\n");
  if (before === text) return;
  const least = Math.min(before.length, text.length);
  let from = 0;
  while (from < least && before[from] === text[from]) from++;
  let same = 0;
  while (same < least - from && before[before.length - 1 - same] === text[text.length - 1 - same]) same++;
  const insert = view.state.toText(
    text.slice(from, text.length - same).replaceAll("\n", view.state.lineBreak),
  );
  view.dispatch({ changes: { from, to: before.length - same, insert } });
}

function show(view: EditorView, draft: Draft): void {
  const { value: line } = draft.jump;
  if (line === null) return;
  const at = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines)).from;
  view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
  view.focus();
  draft.jump.set(null);
}

function found(state: EditorState, problems: readonly Problem[]): Diagnostic[] {
  return problems.map(({ line, severity, message, fix }) => {
    const { from, to } = state.doc.line(Math.min(Math.max(1, line), state.doc.lines));
    return { from, to, severity, message: fix ? `${message}\n${fix}` : message };
  });
}
