import { parseCards } from "../../vcard/vcard.ts";
import { putContact } from "../embedded-contacts.ts";
import type { ImportSource } from "./import-mail.ts";
import { addProblem, count } from "./import-report.ts";

const MAX_CARD_CHARS = 4_000_000;

/** Imports the cards of vCard text, each kept with its own text, so that what is not understood of it is not lost. */
export async function importCards({ database, file, report }: ImportSource, text: string): Promise<void> {
  const blocks = cardBlocks(text);
  if (blocks.length === 0) addProblem(report, file, "there is no card in it");
  for (const block of blocks) {
    try {
      if (block.length > MAX_CARD_CHARS) throw new RangeError("a card is larger than 4 MB");
      const { cards, problems } = await parseCards(block);
      for (const problem of problems) addProblem(report, file, problem);
      for (const card of cards.slice(0, 1)) count(report, "contacts", putContact(database, card, block));
    } catch (thrown) {
      addProblem(report, file, thrown);
    }
  }
}

/** The text of each card, with line ends as vCard has them. */
function cardBlocks(text: string): string[] {
  const blocks: string[] = [];
  let lines: string[] | undefined;
  for (const line of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    if (/^BEGIN:VCARD\s*$/i.test(line)) lines = [];
    lines?.push(line);
    if (!lines || !/^END:VCARD\s*$/i.test(line)) continue;
    blocks.push(`${lines.join("\r\n")}\r\n`);
    lines = undefined;
  }
  return blocks;
}
