/** Whose word it is that comes in over HTTP. */
export const PERSON = "the person in the browser";
