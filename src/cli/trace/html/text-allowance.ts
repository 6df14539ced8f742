import { countOf } from "../../measures.ts";

/** How much text a page may hold, so that a browser opens it however large the session was. */
export type TextAllowance = {
  /** The text as far as there is room, with a word about what is missing. */
  take(text: string): string;
  isUsedUp(): boolean;
};

const MOST_CHARS = 8_000_000;
const MOST_CHARS_OF_ONE = 40_000;

/** Creates the allowance of one page. */
export function createAllowance(all = MOST_CHARS, one = MOST_CHARS_OF_ONE): TextAllowance {
  let left = all;
  let wasCut = false;
  return {
    take(text) {
      const room = Math.max(0, Math.min(one, left));
      left -= Math.min(text.length, room);
      if (text.length <= room) return text;
      wasCut = true;
      return `${text.slice(0, room).toWellFormed()}\n… ${countOf(text.length - room, "more character")}`;
    },
    isUsedUp: () => wasCut,
  };
}
