import { RetinueError } from "../../schema/error.ts";

/** Why a field cannot be written into a file as it is; the raw text can still be edited. */
export function cannotSay(what: string, why: string): RetinueError {
  return new RetinueError(
    "input",
    `${what} cannot be written into this file: ${why}`,
    "edit the raw text instead, or make a copy of the agent in .retinue/agents",
  );
}
