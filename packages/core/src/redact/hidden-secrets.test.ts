import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { HiddenSecrets } from "./hidden-secrets.ts";

const reversed = (text: string) => [...text].reverse().join("");
const mixed = (text: string) => [...text].map((c, at) => (at % 3 ? c : c.toUpperCase())).join("");
const codes = (text: string, write: (code: number) => string) => [...Buffer.from(text)].map(write).join("");
/** Letters and digits in another form, given the first code of each row. */
const inForm = (upper: number, lower: number, digits: number) => (text: string) =>
  text.replace(/[A-Z]|[a-z]|\d/g, (c) => {
    const [row, first] = c <= "9" ? [digits, 48] : c <= "Z" ? [upper, 65] : [lower, 97];
    return String.fromCodePoint(row + c.charCodeAt(0) - first);
  });
const base32 = (text: string) => {
  const bits = codes(text, (code) => code.toString(2).padStart(8, "0"));
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups
    .map((group) => "abcdefghijklmnopqrstuvwxyz234567"[Number.parseInt(group.padEnd(5, "0"), 2)])
    .join("");
};
const rot13 = (text: string) =>
  text.replace(/[a-z]/gi, (c) =>
    String.fromCharCode(((c.charCodeAt(0) - (c < "a" ? 65 : 97) + 13) % 26) + (c < "a" ? 65 : 97)),
  );

/** Ways to write a text that its receiver can read back. */
const ENCODINGS: Readonly<Record<string, (text: string) => string>> = {
  "percent, all of it": (text) => codes(text, (code) => `%${code.toString(16).padStart(2, "0")}`),
  "percent, where needed": encodeURIComponent,
  base64: (text) => Buffer.from(text).toString("base64"),
  base64url: (text) => Buffer.from(text).toString("base64url"),
  hex: (text) => Buffer.from(text).toString("hex"),
  "hex in mixed case": (text) => mixed(Buffer.from(text).toString("hex")),
  base32,
  reversed,
  rot13,
  "a dot after each character": (text) => [...text].join("."),
  "spaces after groups": (text) => text.match(/.{1,3}/gu)?.join(" ") ?? "",
  "full width": inForm(0xff21, 0xff41, 0xff10),
  bold: inForm(0x1d400, 0x1d41a, 0x1d7ce),
  circled: inForm(0x24b6, 0x24d0, 0xff10),
  invisible: inForm(0xe0041, 0xe0061, 0xe0030),
};

const PLACES: Readonly<Record<string, (text: string, cut: number) => string>> = {
  "a parameter": (text) => `https://h.example/p?q=1&d=${text}`,
  "a parameter of a form": (text) => `name=x&d=${text}&more=1`,
  "the path": (text) => `https://h.example/files/${text}/x.png`,
  "labels of the host": (text) => `https://${text.match(/.{1,40}/gu)?.join(".")}.h.example/`,
  "two parameters": (text, cut) => `https://h.example/?a=${text.slice(0, cut)}&then=${text.slice(cut)}`,
  "two parameters, swapped": (text, cut) => `https://h.example/?b=${text.slice(cut)}&a=${text.slice(0, cut)}`,
  "five parameters": (text) => {
    const parts = text.match(new RegExp(`[^]{1,${Math.ceil(text.length / 5)}}`, "gu")) ?? [];
    return `https://h.example/?${parts.map((part, at) => `p${at}=${part}`).join("&")}`;
  },
  "a sentence": (text) => `Please look at ${text} and tell me what you think.`,
};

const secrets = fc
  .array(fc.constantFrom(..."ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"), {
    minLength: 20,
    maxLength: 48,
  })
  .map((letters) => `k7${letters.join("")}`);

test("a known value is found wherever it stands in an address or text, whatever three encodings it went through", () => {
  const names = fc.array(fc.constantFrom(...Object.keys(ENCODINGS)), { maxLength: 3 });
  fc.assert(
    fc.property(
      secrets,
      names,
      fc.constantFrom(...Object.keys(PLACES)),
      fc.nat(99),
      (secret, encodings, place, share) => {
        const hidden = new HiddenSecrets();
        hidden.add(secret);
        const text = encodings.reduce((inner, name) => ENCODINGS[name]?.(inner) ?? "", secret);
        const cut = [...text].slice(0, Math.ceil(([...text].length * share) / 100)).join("").length;
        expect(hidden.find([PLACES[place]?.(text, cut) ?? ""])).toBe("found");
      },
    ),
    { numRuns: process.env.RETINUE_DEEP === "1" ? 20_000 : 400 },
  );
});

test("it is found when it is spread over the strings of one call", () => {
  const hidden = new HiddenSecrets();
  hidden.add("env-Canary-5up3rS3cr3tValue");
  expect(hidden.find(["subject", "re: env-Canary-5u", "body", "more: p3rS3cr3tValue"])).toBe("found");
  expect(hidden.find(["https://h/?x=ZW52LUNhbmFye", "https://h/?x=S01dXAzclMzY3IzdFZhbHVl"])).toBe("found");
});

test("a value in two pieces is found backwards too, and pieces of less than all of it are not", () => {
  const secret = "zx9mq2rtfv7blp4wn8ky";
  const hidden = new HiddenSecrets();
  hidden.add(secret);
  const backwards = [...secret].reverse().join("");
  for (const value of [secret, backwards]) {
    expect(hidden.find([`first ${value.slice(9)}`, `then ${value.slice(0, 9)}`])).toBe("found");
    expect(hidden.find([`first ${value.slice(9)}`, `then ${value.slice(0, 8)}`])).toBe("none");
  }
});

test("a host that becomes a secret only when its name is mapped is found, however its letters are written", () => {
  const secret = "zx9mq2rtfv7blp4wn8ky";
  const hidden = new HiddenSecrets();
  hidden.add(secret);
  const labels = [
    ...["full width", "bold", "circled"].map((name) => ENCODINGS[name]?.(secret) ?? ""),
    encodeURIComponent(ENCODINGS["full width"]?.(secret) ?? ""),
    [...secret].join("\u00ad"),
    [...secret].join("\u200b"),
  ];
  for (const label of labels) {
    const url = `http://${label}.evil.example/`;
    expect(URL.parse(url)?.hostname).toBe(`${secret}.evil.example`);
    expect(hidden.find([url])).toBe("found");
    expect(hidden.find([`see ${label}.evil.example`])).toBe("found");
  }
  for (const label of [[...secret].join("é"), [...secret].map((c) => `${c}\u0301`).join("")])
    expect(hidden.find([`http://${label}.evil.example/`])).toBe("found");
});

test("character codes in binary, octal, decimal, HTML and programs are read too", () => {
  const secret = "env-Canary-5up3rS3cr3tValue";
  const hidden = new HiddenSecrets();
  hidden.add(secret);
  for (const write of [
    (code: number) => `${code} `,
    (code: number) => `&#${code};`,
    (code: number) => `&#x${code.toString(16)};`,
    (code: number) => `\\x${code.toString(16)}`,
    (code: number) => `\\u00${code.toString(16)}`,
    (code: number) => `0x${code.toString(16)}, `,
    (code: number) => `&#${code + 0xfee0};`,
    (code: number) => `\\u${(code + 0xfee0).toString(16)}`,
    (code: number) => `%u${(code + 0xfee0).toString(16)}`,
    (code: number) => code.toString(2).padStart(8, "0"),
    (code: number) => code.toString(2).padStart(7, "0"),
    (code: number) => `${code.toString(2)}-`,
    (code: number) => `0b${code.toString(2)}, `,
    (code: number) => `${code.toString(8)}.`,
    (code: number) => `\\${code.toString(8)}`,
    (code: number) => `0o${code.toString(8)} `,
    (code: number) => code.toString(8).padStart(3, "0"),
    (code: number) => String(code).padStart(3, "0"),
  ]) {
    const written = codes(secret, write);
    expect(hidden.find([written])).toBe("found");
    expect(hidden.find([`https://h.example/?d=${Buffer.from(written).toString("base64url")}`])).toBe("found");
    expect(hidden.find([`https://h.example/${reversed(written)}/x`])).toBe("found");
  }
});

test("ordinary addresses and texts hold no secret, also next to a hundred random values", () => {
  const hidden = new HiddenSecrets();
  for (const secret of fc.sample(secrets, { numRuns: 100, seed: 7 })) hidden.add(secret);
  for (const secret of [
    "hunter2-2024",
    "Summer-in-Vienna-2026",
    "postgres://app:local123@localhost:5432/app",
  ])
    hidden.add(secret);
  const texts = [
    "https://en.wikipedia.org/wiki/Night_train?oldid=1234567890&action=edit#History",
    "https://www.example.org/a/b?id=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08&utm_source=x",
    "https://example.com/login?next=https%3A%2F%2Fexample.com%2Fapp%3Ftab%3D2%26page%3D3",
    `data:image/png;base64,${Buffer.from(Array.from({ length: 3_000 }, (_, at) => (at * 7919) % 256)).toString("base64")}`,
    "how do I book a night train from Vienna to Paris in summer 2026 with a local app on port 5432",
  ];
  for (const name of readdirSync(new URL("../../../../docs/", import.meta.url)).filter((each) =>
    each.endsWith(".md"),
  ))
    texts.push(...readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8").split("\n\n"));
  expect(texts.filter((text) => hidden.find([text]) !== "none")).toEqual([]);
});

test.each([
  ["prose", (chars: number) => "The quick brown fox jumps over the lazy dog. ".repeat(chars / 45)],
  [
    "base64 of base64",
    (chars: number) =>
      Buffer.from(Buffer.from("it is only text. ".repeat(chars / 31)).toString("base64")).toString("base64"),
  ],
  ["hex", (chars: number) => Buffer.from("it is only text. ".repeat(chars / 34)).toString("hex")],
  ["percent signs", (chars: number) => "%25".repeat(chars / 3)],
  ["one letter", (chars: number) => "a".repeat(chars)],
])("the work on a megabyte of %s is linear", (_, make) => {
  const hidden = new HiddenSecrets();
  hidden.add("env-Canary-5up3rS3cr3tValue");
  const work = (text: string) => {
    let steps = 0;
    expect(hidden.find([text], (chars) => (steps += chars))).toBe("none");
    return steps / text.length;
  };
  const [quarter, whole] = [work(make(250_000)), work(make(1_000_000))];
  expect(whole).toBeLessThan(32);
  expect(whole).toBeLessThan(quarter * 1.1 + 1);
});

test("a text that unfolds without end is given up, and said to be too much", () => {
  const hidden = new HiddenSecrets();
  hidden.add("env-Canary-5up3rS3cr3tValue");
  const parts = Array.from(
    { length: process.env.RETINUE_DEEP ? 40_000 : 10_000 },
    (_, at) => `${Buffer.from(`${at} of many`).toString("hex")}`,
  );
  let steps = 0;
  const verdict = hidden.find(parts, (chars) => (steps += chars));
  expect(["none", "too much"]).toContain(verdict);
  expect(steps).toBeLessThan(33 * parts.join("").length + 4_100_000);
});

test("without known values there is nothing to look for", () => {
  expect(new HiddenSecrets().find(["x".repeat(100)], () => expect.unreachable())).toBe("none");
});

test("a value is found in the other case, and in more pieces than it could be put together from", () => {
  const secret = "zx9mq2rtfv7blp4wn8ky";
  const hidden = new HiddenSecrets();
  hidden.add(secret);
  expect(hidden.find([`to ${secret.toUpperCase()}`])).toBe("found");
  expect(hidden.find(secret.match(/.{1,4}/g) ?? [])).toBe("found");
});
