/** What was typed and not saved: the text, and the state of the file it began from. */
export type StoredDraft = { text: string; hash: string | null; scope?: "project" | "user" };

const keyOf = (name: string | null) => (name === null ? "retinue.new-agent" : `retinue.agent.${name}`);

/** What this tab kept of an agent, or of a new one (`null`). */
export function storedDraft(name: string | null): StoredDraft | null {
  const text = sessionStorage.getItem(keyOf(name));
  if (text === null) return null;
  try {
    return JSON.parse(text) as StoredDraft;
  } catch {
    return null;
  }
}

/** Keeps it for as long as the tab is open, so that leaving the screen loses nothing. */
export function storeDraft(name: string | null, draft: StoredDraft): void {
  try {
    sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
  } catch {
    // A full store: the text is still on the page, and closing it is warned about.
  }
}

/** Forgets it. */
export function forgetDraft(name: string | null): void {
  sessionStorage.removeItem(keyOf(name));
}
