/** A JSON Schema document, as tools and deliverables carry it. */
export type JsonSchema = { readonly [key: string]: unknown };

/** Anything JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
