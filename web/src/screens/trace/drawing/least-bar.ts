/** Bars are never narrower than this, in pixels. */
export const LEAST_BAR_PX = 3;
