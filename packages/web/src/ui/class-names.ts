/** Class names that hold, in one string. */
export function join(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}

/** For a region that scrolls: the keyboard must be able to reach it, or people without a pointer see only half of it. */
export const REACHABLE = { tabIndex: 0 } as const;
