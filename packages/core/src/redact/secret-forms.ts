/** Shorter values would be found by chance. */
export const SHORTEST_SECRET = 8;

/**
 * Every spelling in which a known value is looked for: plain, as in JSON text, base64 at each of its three alignments,
 * hex and URL-encoded. Empty for values that are too short to look for.
 */
export function secretForms(secret: string, markers: readonly string[]): string[] {
  const plain = secret.trim();
  if (plain.length < SHORTEST_SECRET) return [];
  const hex = Buffer.from(plain).toString("hex");
  const url = urlForms(plain);
  const forms = [
    plain,
    JSON.stringify(plain).slice(1, -1),
    hex,
    hex.toUpperCase(),
    ...url,
    ...base64Forms(plain),
  ];
  const usable = forms
    .map((form) => apartFromMarkers(form, markers))
    .filter((form) => form.length >= SHORTEST_SECRET);
  return [...new Set(usable)];
}

function urlForms(plain: string): string[] {
  const encoded = encodeURIComponent(plain.toWellFormed());
  const lower = encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase());
  const form = new URLSearchParams({ v: plain.toWellFormed() }).toString().slice(2);
  return [encoded, lower, form];
}

/** The characters that depend on the neighbours' bits are left out, so the value is found inside longer encodings too. */
function base64Forms(plain: string): string[] {
  const bytes = Buffer.from(plain);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const own = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return [own, own.replaceAll("+", "-").replaceAll("/", "_")];
  });
}

/**
 * A form must not overlap any marker, or redacting twice would differ from redacting once: what it shares with the end
 * or the beginning of one is cut off, and a form that contains or is part of one is not looked for.
 */
function apartFromMarkers(form: string, markers: readonly string[]): string {
  let start = 0;
  for (let length = 1; length <= form.length; length++) {
    if (markers.some((marker) => marker.endsWith(form.slice(0, length)))) start = length;
  }
  let end = form.length;
  for (let length = 1; length < MARKER_START.length; length++) {
    if (form.endsWith(MARKER_START.slice(0, length))) end = Math.min(end, form.length - length);
  }
  const rest = form.slice(start, Math.max(start, end));
  const clash = rest.includes(MARKER_START) || markers.some((marker) => marker.includes(rest));
  return clash ? "" : rest;
}

/** What every marker begins with; no secret may contain it, so that markers are never taken apart. */
export const MARKER_START = "[redacted:";

/** What stands in the place of a secret. */
export function marker(kind: string): string {
  return `${MARKER_START}${kind}]`;
}
