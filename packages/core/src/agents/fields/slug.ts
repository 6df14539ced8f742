/** Longest slug; the rest of a longer name is cut. */
const MAX_SLUG = 64;

/**
 * The id a name is addressed by: lower-case ASCII letters, digits, `_` and `-`. Accents are dropped; letters of other
 * scripts separate words and are never replaced by a look-alike. Undefined when nothing is left.
 */
export function makeSlug(name: string): string | undefined {
  const slug = name
    .slice(0, MAX_SLUG * 4)
    .normalize("NFD")
    .replaceAll(/\p{Mn}/gu, "")
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, "-")
    .replaceAll(/^[-_]+|[-_]+$/g, "")
    .slice(0, MAX_SLUG)
    .replace(/-$/, "");
  return slug === "" ? undefined : slug;
}

/** A reference to agents: a slug, or a glob such as `team-*` as written. */
export function agentReference(name: string): string | undefined {
  return /^[a-z0-9_*-]+$/.test(name) ? name : makeSlug(name);
}
