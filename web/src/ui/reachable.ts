/** For a region that scrolls: the keyboard must be able to reach it, or whoever has no pointer sees half of it. */
export const REACHABLE = { tabIndex: 0 } as const;
