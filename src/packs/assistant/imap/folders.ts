import type { ImapFlow, ListResponse } from "imapflow";

const NAMES: Readonly<Record<"sent" | "drafts", readonly string[]>> = {
  sent: ["sent", "sent items", "sent messages", "sent mail", "gesendet", "gesendete elemente", "envoyés"],
  drafts: ["drafts", "draft", "entwürfe", "brouillons"],
};
const FLAGS = { sent: "\\Sent", drafts: "\\Drafts" } as const;
/** Folders that a search leaves out. */
const ASIDE: ReadonlySet<string> = new Set(["\\Trash", "\\Junk", "\\Drafts"]);
const MAX_FOLDERS = 40;

/** The folder for sent mail or drafts: the one the server marks, else by its usual name; it is made if there is none. */
export async function folderFor(client: ImapFlow, use: "sent" | "drafts"): Promise<string> {
  const folders = (await client.list()).filter(isSelectable);
  const marked = folders.find(
    ({ specialUse, specialUseSource }) => specialUse === FLAGS[use] && specialUseSource !== "name",
  );
  const named = folders.find(({ name }) => NAMES[use].includes(name.toLowerCase()));
  const found = marked ?? named ?? folders.find(({ specialUse }) => specialUse === FLAGS[use]);
  if (found) return found.path;
  const made = await client.mailboxCreate(use === "sent" ? "Sent" : "Drafts");
  return made.path;
}

/** The folders a search looks through: the one with all mail if there is one, else all but bin, spam and drafts. */
export async function searchedFolders(client: ImapFlow): Promise<string[]> {
  const folders = (await client.list()).filter(isSelectable);
  const all = folders.find(({ specialUse }) => specialUse === "\\All");
  if (all) return [all.path];
  return folders
    .filter(({ specialUse }) => !ASIDE.has(specialUse ?? ""))
    .map(({ path }) => path)
    .slice(0, MAX_FOLDERS);
}

function isSelectable({ flags }: ListResponse): boolean {
  return !flags.has("\\Noselect") && !flags.has("\\NonExistent");
}
