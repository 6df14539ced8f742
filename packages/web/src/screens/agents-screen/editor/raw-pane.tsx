import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { markdown } from "@codemirror/lang-markdown";
import { yamlFrontmatter } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Problem } from "@retinue/core/schema/agent";
import { useEffect, useRef } from "react";
import { cspNonce } from "../../../data/client.ts";
import { useSignal } from "../../../live/signal.ts";
import type { EditedAgent } from "../agent-draft.ts";
import { useAgentDraft, useIsReadOnly } from "../use-agent-draft.tsx";

/** The file itself. Its history holds what the form changed too, and outlives the pane. */
export default function RawPane() {
  const draft = useAgentDraft();
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

/** YAML between the dashes, Markdown below; Tab leaves the editor, so that the keyboard is not caught in it. */
function firstState(draft: EditedAgent, readOnly: boolean): EditorState {
  const { value: doc } = draft.text;
  return EditorState.create({
    doc,
    extensions: [
      // A file that ends its lines as Windows does keeps them.
      ...(/^[^\n]*\r\n/.test(doc) && !/[^\r]\n/.test(doc) ? [EditorState.lineSeparator.of("\r\n")] : []),
      EditorView.cspNonce.of(cspNonce()),
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      highlightSpecialChars(),
      highlightActiveLine(),
      highlightActiveLineGutter(),
      highlightSelectionMatches(),
      indentOnInput(),
      search({ top: true }),
      keymap.of([...searchKeymap, ...historyKeymap, ...defaultKeymap]),
      yamlFrontmatter({ content: markdown() }),
      syntaxHighlighting(COLOURS),
      LOOK,
      EditorView.lineWrapping,
      EditorState.readOnly.of(readOnly),
      EditorView.contentAttributes.of({ "aria-label": "The agent file", spellcheck: "false" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) draft.type(update.state.sliceDoc());
      }),
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

function show(view: EditorView, draft: EditedAgent): void {
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

const LOOK = EditorView.theme({
  "&": { height: "100%", fontSize: "12px", backgroundColor: "var(--panel)", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--font-mono), ui-monospace, monospace", lineHeight: "20px" },
  ".cm-content": { caretColor: "var(--ink)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": {
    backgroundColor: "var(--panel)",
    color: "var(--ink-3)",
    borderRight: "1px solid var(--line)",
  },
  ".cm-activeLine": { backgroundColor: "color-mix(in oklch, var(--raised) 60%, transparent)" },
  ".cm-activeLineGutter": { backgroundColor: "var(--raised)", color: "var(--ink)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-panels": { backgroundColor: "var(--raised)", color: "var(--ink)", borderColor: "var(--line)" },
  ".cm-textfield": {
    backgroundColor: "var(--panel)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    fontSize: "12px",
  },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--panel)",
    border: "1px solid var(--line-strong)",
    borderRadius: "6px",
    fontSize: "12px",
  },
  ".cm-searchMatch": { backgroundColor: "var(--warn-soft)", outline: "1px solid var(--warn)" },
  ".cm-tooltip": {
    backgroundColor: "var(--panel)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
    borderRadius: "8px",
    maxWidth: "min(28rem, 90vw)",
  },
  ".cm-diagnostic": { fontFamily: "var(--font-sans), sans-serif", padding: "6px 10px" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.monospace], color: "var(--ok)" },
  { tag: [tags.number, tags.bool, tags.null, tags.keyword], color: "var(--run)" },
  {
    tag: [tags.comment, tags.meta, tags.processingInstruction, tags.contentSeparator],
    color: "var(--ink-3)",
  },
  { tag: tags.heading, fontWeight: "650" },
  { tag: tags.strong, fontWeight: "650" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--run)", textDecoration: "underline" },
]);
