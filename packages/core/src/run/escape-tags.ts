/** Tags that a model could take for a voice other than the child's: roles, tools, our own marks. */
const VOICES =
  /<(?=\s*\/?\s*(?:[\w-]+:)?(?:system|assistant|user|human|developer|tool|function|invoke|parameter|subagent|result|instruction|context|important|admin|earlier|task|file)[\w:-]*\b)/gi;

/** The line below which a child's result holds what the host measured. */
const MEASURED = /\[(?=\s*measured\s*\])/gi;

/** Characters that are not shown but could carry instructions or hide a tag. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\u{e0000}-\u{e007f}]/gu;

/** Makes a text safe to stand inside another conversation as data: it cannot open or close a mark there. */
export function escapeTags(text: string): string {
  return text.replace(INVISIBLE, "").replace(VOICES, "&lt;").replace(MEASURED, "&#91;");
}
