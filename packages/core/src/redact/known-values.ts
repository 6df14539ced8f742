/** A stretch of text, end exclusive. */
export type Span = { start: number; end: number };

/** Each form is found by this many of its first characters, two at a time. */
const WINDOW = 8;
const FARTHEST = WINDOW - 1;

/**
 * Finds many fixed strings at once. The scan looks at two characters at a time and leaps as far as no form can begin
 * (the method of Wu and Manber), so that ordinary text costs about a nanosecond per character however many forms there are.
 */
export class KnownValues {
  private readonly shifts = new Uint8Array(65_536).fill(FARTHEST);
  private readonly byPair = new Map<number, string[]>();
  private readonly byFirst = new Map<number, string[]>();
  private readonly forms = new Set<string>();
  private longest = 0;

  add(form: string): void {
    if (this.forms.has(form)) return;
    this.forms.add(form);
    this.longest = Math.max(this.longest, form.length);
    for (let index = 0; index < FARTHEST; index++) {
      const pair = pairAt(form, index);
      this.shifts[pair] = Math.min(this.shifts[pair] ?? 0, FARTHEST - 1 - index);
    }
    appendTo(this.byPair, pairAt(form, FARTHEST - 1), form);
    appendTo(this.byFirst, form.charCodeAt(0), form);
  }

  /** All stretches that belong to a form, overlapping ones joined, in order. */
  find(text: string): Span[] {
    const spans: Span[] = [];
    if (this.forms.size === 0) return spans;
    let at = FARTHEST - 1;
    while (at + 1 < text.length) {
      const pair = pairAt(text, at);
      const shift = this.shifts[pair] ?? 0;
      if (shift > 0) at += shift;
      else {
        const start = at - FARTHEST + 1;
        const end = this.endOfFormAt(text, start, pair);
        if (end > start) join(spans, { start, end });
        at++;
      }
    }
    return spans;
  }

  /** Where the first form begins that may go on after the end of the text; the length of the text if none. */
  unfinishedFrom(text: string): number {
    for (let start = Math.max(0, text.length - this.longest + 1); start < text.length; start++) {
      const candidates = this.byFirst.get(text.charCodeAt(start));
      if (candidates?.some((form) => isBeginning(form, text, start))) return start;
    }
    return text.length;
  }

  private endOfFormAt(text: string, start: number, pair: number): number {
    let end = start;
    for (const form of this.byPair.get(pair) ?? []) {
      if (start + form.length > end && text.startsWith(form, start)) end = start + form.length;
    }
    return end;
  }
}

function pairAt(text: string, index: number): number {
  return (text.charCodeAt(index) * 251 + text.charCodeAt(index + 1)) & 0xffff;
}

function isBeginning(form: string, text: string, start: number): boolean {
  const length = text.length - start;
  if (length >= form.length) return false;
  if (length > 1 && form.charCodeAt(1) !== text.charCodeAt(start + 1)) return false;
  return form.startsWith(text.slice(start));
}

function join(spans: Span[], next: Span): void {
  const last = spans.at(-1);
  if (last && next.start < last.end) last.end = Math.max(last.end, next.end);
  else spans.push(next);
}

function appendTo(map: Map<number, string[]>, key: number, form: string): void {
  const list = map.get(key);
  if (list) list.push(form);
  else map.set(key, [form]);
}
