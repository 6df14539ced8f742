import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { markdown } from "@codemirror/lang-markdown";
import { yamlFrontmatter } from "@codemirror/lang-yaml";
import { HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
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
import { cspNonce } from "../../../csp-nonce.ts";

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

/** The editor for an agent file: YAML between the dashes, Markdown below; Tab leaves it, so that nobody is caught in it. */
export function rawExtensions({
  readOnly,
  onText,
}: {
  readOnly: boolean;
  onText: (text: string) => void;
}): Extension[] {
  return [
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
      if (update.docChanged) onText(update.state.sliceDoc());
    }),
  ];
}
