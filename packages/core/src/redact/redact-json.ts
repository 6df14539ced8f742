import { marker } from "./secret-forms.ts";
import { looksSecret } from "./secret-rules.ts";

const SECRET_NAME =
  /(?<!(?:page|next|sync|continuation|cursor|resume)[_-]?)(?:pass(?:word|wd|phrase)|pwd|secret|token|(?:api|access|secret|private|account|signing)[_-]?key|credentials?|authorization)$/i;

/** Redacts every string of a JSON value, names of properties too; the same value if nothing in it is secret. */
export function redactJson<T>(value: T, redact: (text: string) => string): T {
  const redactNamed = (text: string, name: string): string => {
    const redacted = redact(text);
    const isNamed = redacted === text && SECRET_NAME.test(name) && !/\s/.test(text);
    return isNamed && looksSecret(text.slice(0, 64), { before: `${name}="`, after: '"' })
      ? marker("credential")
      : redacted;
  };
  if (!hasSecret(value, redact, redactNamed)) return value;
  return copyOf(value, redact, redactNamed);
}

/** Every string of a JSON value, names of properties too. */
export function stringsIn(root: unknown): string[] {
  const found: string[] = [];
  const seen = new Set<object>();
  const left: unknown[] = [root];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === "string") found.push(value);
    if (!isContainer(value) || seen.has(value)) continue;
    seen.add(value);
    // The stack gives them back in their own order.
    for (const [key, inner] of Object.entries(value).reverse()) {
      left.push(inner);
      if (!Array.isArray(value)) left.push(key);
    }
  }
  return found;
}

type Named = (text: string, name: string) => string;

/** Walks with a stack of its own: the nesting of a hostile value has no limit. */
function hasSecret(root: unknown, redact: (text: string) => string, redactNamed: Named): boolean {
  if (!isContainer(root)) return typeof root === "string" && redactNamed(root, "") !== root;
  const seen = new Set<object>([root]);
  const left: object[] = [root];
  const names = [""];
  /** Whether a value is secret, if it is a text; else it is looked into later. */
  const isSecret = (value: unknown, name: string): boolean => {
    if (typeof value === "string") return redactNamed(value, name) !== value;
    if (!isContainer(value) || seen.has(value)) return false;
    seen.add(value);
    left.push(value);
    names.push(name);
    return false;
  };
  for (let value = left.pop(); value; value = left.pop()) {
    const name = names.pop() ?? "";
    if (Array.isArray(value)) {
      for (const item of value) if (isSecret(item, name)) return true;
    } else {
      for (const [key, item] of Object.entries(value))
        if (redact(key) !== key || isSecret(item, key)) return true;
    }
  }
  return false;
}

function copyOf<T>(root: T, redact: (text: string) => string, redactNamed: Named): T {
  const holder = { root };
  const copies = new Map<object, object>();
  const stack: { from: object; to: object; name: string }[] = [];
  const copied = (value: unknown, name: string): unknown => {
    if (typeof value === "string") return redactNamed(value, name);
    if (!isContainer(value)) return value;
    const known = copies.get(value);
    if (known) return known;
    const to = Array.isArray(value) ? [] : {};
    copies.set(value, to);
    stack.push({ from: value, to, name });
    return to;
  };
  Object.assign(holder, { root: copied(root, "") });
  for (let entry = stack.pop(); entry; entry = stack.pop()) {
    const { from, to, name } = entry;
    for (const [key, inner] of Object.entries(from)) {
      const isItem = Array.isArray(from);
      const place = isItem ? key : freeKey(to, redact(key));
      // Not an assignment: a property called `__proto__` is data like any other.
      Object.defineProperty(to, place, {
        value: copied(inner, isItem ? name : key),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
  }
  return holder.root;
}

/** Two names that became the same must not hide each other's values. */
function freeKey(target: object, key: string): string {
  let free = key;
  for (let copy = 2; Object.hasOwn(target, free); copy++) free = `${key} ${copy}`;
  return free;
}

function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
