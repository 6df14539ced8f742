import { execFileSync } from "node:child_process";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor } from "./create-redactor.ts";
import { createRuleScanner, passesSieve } from "./scanners.ts";
import { secretForms } from "./secret-forms.ts";

/** Put together at run time, so that no scanner takes this file for a leak. */
const join = (...parts: string[]): string => parts.join("");
const RANDOM = "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3dE5f";
const KEY_BODY = "MIIEowIBAAKCAQEAx1y2z3\nq4r5s6t7u8v9==\n";
const PEM = join("-----BEGIN RSA PRIVATE", " KEY-----\n", KEY_BODY, "-----END RSA PRIVATE", " KEY-----");
const JWT = join(
  "eyJhbGciOiJIUzI1NiJ9",
  ".eyJzdWIiOiIxMjM0NTY3ODkwIn0",
  ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
);

/** Text before, the secret, text after, and its kind. */
const SECRETS: [string, string, string, string][] = [
  ["key ", join("AKIA", "IOSFODNN7EXAMPLE"), " end", "aws-key"],
  ["", join("ghp_", RANDOM.slice(0, 36)), "\n", "github-token"],
  ["(", join("github_pat_", RANDOM), ")", "github-token"],
  ["'", join("glpat-", "x1Y2-z3_W4v5U6t7S8r9"), "'", "gitlab-token"],
  ["slack ", join("xoxb-", "1234567890-abcDEF"), ".", "slack-token"],
  ["stripe: ", join("sk_live_", RANDOM.slice(0, 24)), " ", "stripe-key"],
  ["", join("sk-", "proj-", RANDOM), "", "openai-key"],
  ["", join("sk-ant-", "api03-", RANDOM), " x", "anthropic-key"],
  ["maps ", join("AIza", RANDOM.slice(0, 35)), "&", "google-key"],
  ["", join("npm_", RANDOM.slice(0, 36)), "", "npm-token"],
  ["jwt=", JWT, " end", "jwt"],
  ["file:\n", PEM, "\nafter", "private-key"],
  ['"', PEM.replaceAll("\n", "\\n"), '"', "private-key"],
  ["tls.key: ", Buffer.from(PEM).toString("base64"), "\n", "private-key"],
  ["Authorization: Bearer ", "opaque-token", "\r\n", "authorization"],
  ['-H "authorization: Basic ', "dXNlcjpwYXNz", '"', "authorization"],
  ["use Bearer ", "0123456789abcdef0123", " here", "authorization"],
  ["password=", "hunter2", " ok", "credential"],
  ["DB_PASSWORD=", "supersecretword", "\n", "credential"],
  ["Server=db;User Id=sa;Password=", "Sup3r!pass", ";Encrypt=yes", "credential"],
  ['{"api_key": "', "abcd1234efgh", '"}', "credential"],
  ['{\\"clientSecret\\": \\"', "abcd1234efgh", '\\"}', "credential"],
  ["x-api-key: ", "abcd1234efgh", "\n", "credential"],
  ["AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "\n", "credential"],
  ["?access_token=", "abcd1234efgh", "&x=1", "credential"],
  ["postgres://user:", "p@ss:w0rd", "@db.example.org:5432/x", "credential"],
  ["redis://:", "letmein", "@localhost", "credential"],
];

const HARMLESS = [
  "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
  "id 550e8400-e29b-41d4-a716-446655440000",
  '"integrity": "sha512-v2kDEe57lecTulaDIuNTPy3Ry4gLGJ6Z1O3vE1krgXZNrsQ+LFTGHVxVjcXPs17LhbZVGedAJv8XZ1tvj5FvSg=="',
  `data:image/png;base64,${Buffer.from(Array.from({ length: 600 }, (_, index) => (index * 7919) % 256)).toString("base64")}`,
  "The secret: never give up. Password: required. Your token is valid, and the password policy is strict.",
  "function login(user: string, password: string, token: Uint8Array): Promise<void> {}",
  "const apiKey = process.env.API_KEY; connect({ password: config.password, token: await getToken(id2) });",
  `password=\${DB_PASSWORD} token=$TOKEN secret=<your-secret> api_key=YOUR_API_KEY_123 pwd=/home/user1`,
  "client.login(password=user_password, token=accessToken, secret=secret)",
  '{"nextPageToken": "CAUQAA12345", "total_tokens": 12345678, "max_tokens=4096": 1}',
  "https://example.org:8080/path?x=1#frag http://[::1]:3000/ mailto:a@b.c git@github.com:owner/repo.git",
  "the risk-averse task-force-of-the-united-nations-2024 and sk-folding-cube-animation-wrapper",
  "-----BEGIN CERTIFICATE-----\nMIIEowIBAAKCAQEAx1y2z3\n-----END CERTIFICATE-----",
  'if (text.includes("-----BEGIN PRIVATE KEY-----")) the -----BEGIN PRIVATE KEY----- line is a header',
  `Authorization: Bearer \${token} or Bearer authentication is needed`,
];

const VALUE = "c0rrect horse;battery&staple";

describe("secrets known by their looks", () => {
  const redactor = createRedactor();
  test.each(SECRETS)("%j%j%j is redacted as %s", (before, secret, after, kind) => {
    expect(redactor.redact(before + secret + after)).toBe(`${before}[redacted:${kind}]${after}`);
  });

  test("are redacted as well by an engine that no longer optimises regular expressions", () => {
    const source = JSON.stringify(new URL("./create-redactor.ts", import.meta.url).href);
    const texts = SECRETS.map(([before, secret, after]) => before + secret + after);
    const program = `import { createRedactor } from ${source};
      const { redact } = createRedactor();
      console.log(JSON.stringify(JSON.parse(process.argv[1]).map((text) => redact(text))));`;
    const redacted: string[] = JSON.parse(
      execFileSync(
        process.execPath,
        ["--no-regexp-optimization", "--input-type=module", "--eval", program, JSON.stringify(texts)],
        { encoding: "utf8" },
      ),
    );
    expect(redacted).toEqual(SECRETS.map(([before, , after, kind]) => `${before}[redacted:${kind}]${after}`));
  });

  test.each(HARMLESS)("%j stays as it is", (text) => {
    expect(redactor.redact(text)).toBe(text);
  });

  test("a secret goes on as long as its characters do", () => {
    const text = `${join("sk-", RANDOM)}${"a".repeat(1_000_000)} end`;
    expect(redactor.redact(text)).toBe("[redacted:openai-key] end");
  });

  test("a key block that is cut off is redacted up to where it stops", () => {
    expect(redactor.redact(`${PEM.slice(0, 70)}\n"cut"`)).toBe('[redacted:private-key]"cut"');
  });
});

describe("secrets known by their value", () => {
  const redactor = createRedactor({ secrets: [VALUE, "short", " padded-value \n"] });

  test.each([
    ["plain", VALUE],
    ["in JSON", VALUE],
    ["base64", Buffer.from(VALUE).toString("base64")],
    ["hex", Buffer.from(VALUE).toString("hex")],
    ["upper-case hex", Buffer.from(VALUE).toString("hex").toUpperCase()],
    ["URL-encoded", encodeURIComponent(VALUE)],
    ["form-encoded", encodeURIComponent(VALUE).replaceAll("%20", "+")],
    ["padded", "padded-value"],
  ])("the value is found %s", (_, form) => {
    expect(redactor.redact(`before ${form} after`)).toMatch(/^before \[redacted:secret\]\S{0,3} after$/);
  });

  test("the value is found within longer base64 at every alignment", () => {
    for (const prefix of ["", "u", "us", "user:"]) {
      const encoded = Buffer.from(`${prefix}${VALUE}\n`).toString("base64");
      expect(redactor.redact(encoded)).toContain("[redacted:secret]");
    }
  });

  test("the value is found in base64 and base64url, also where the two are spelled otherwise", () => {
    const value = "~~~???>>>~~~???>>>";
    const both = createRedactor({ secrets: [value] });
    for (const prefix of ["", "u", "us"]) {
      for (const encoding of ["base64", "base64url"] as const) {
        const encoded = Buffer.from(`${prefix}${value}`).toString(encoding);
        expect(encoded).toMatch(encoding === "base64" ? /[+/]/ : /[-_]/);
        expect(both.redact(`a ${encoded} b`)).toMatch(/^a \S{0,3}\[redacted:secret\]\S{0,3} b$/);
      }
    }
  });

  test("values shorter than eight characters are not looked for", () => {
    expect(redactor.redact("a short text")).toBe("a short text");
  });

  test("values that overlap leave no piece of either", () => {
    const both = createRedactor({ secrets: ["abcdefgh12", "gh12ijklmn", "abcdefgh12-long"] });
    expect(both.redact("x abcdefgh12ijklmn y abcdefgh12-long z")).toBe(
      "x [redacted:secret] y [redacted:secret] z",
    );
  });

  test("a value is found whole even where a rule would end within it", () => {
    expect(redactor.redact(`password=${VALUE}`)).toBe("password=[redacted:secret]");
  });

  test("a value can be added later", () => {
    const later = createRedactor({});
    later.add("later-value");
    expect(later.redact("a later-value b")).toBe("a [redacted:secret] b");
  });
});

test("patterns of the user's own are found within lines, also in a stream", () => {
  const redactor = createRedactor({ patterns: [{ kind: "ticket", pattern: /TCK-\d+/ }] });
  expect(redactor.redact("a TCK-12 b\nTCK-3 [redacted:ticket]")).toBe(
    "a [redacted:ticket] b\n[redacted:ticket] [redacted:ticket]",
  );
  const stream = redactor.stream();
  expect([stream.push("a TCK"), stream.push("-12\nb"), stream.end()].join("")).toBe("a [redacted:ticket]\nb");
});

const FRAGMENTS = [
  ...SECRETS.flatMap(([before, secret, after]) => [
    before,
    secret,
    secret.slice(0, 9),
    secret.slice(-9),
    after,
  ]),
  ...HARMLESS.map((text) => text.slice(0, 40)),
  ...[
    "[redacted:",
    "[redacted:secret]",
    "[redacted:credential]",
    "]",
    "[",
    "=",
    ": ",
    '"',
    "'",
    "\\",
    "\n",
    " ",
    "@",
    "://",
    ":",
    "-",
    "_",
  ],
  ...[
    VALUE,
    VALUE.slice(0, 7),
    VALUE.slice(7),
    "secret]abc",
    "xyz[redac",
    "ghost-val",
    "ghost-value-1",
    "value-1-ghost",
  ],
  ...[
    "p",
    "password",
    "token",
    "pageToken",
    "api_key",
    "Authorization",
    "Bearer ",
    "eyJ",
    "sk-",
    "-----BEGIN ",
    "-----END ",
    "a".repeat(70),
    "1".repeat(40),
  ],
];
const anyText = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...FRAGMENTS) },
      { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    ),
    { maxLength: 14 },
  )
  .map((parts) => parts.join(""));
const KNOWN = [
  VALUE,
  "secret]abc-12345",
  "12345678[redac",
  "ghost-value-1",
  "value-1-ghost",
  "redacted",
  "[redacted:secret]",
];
const RUNS = process.env.RETINUE_DEEP === "1" ? { numRuns: 100_000 } : { numRuns: 2_000, seed: 7 };

test("a token that is the user of an address goes as well as the password", () => {
  const token = join("ghp_", RANDOM.slice(0, 36));
  const text = `https://${token}:x-oauth-basic@github.com/a/b`;
  const { redact } = createRedactor();
  expect(redact(text)).toBe("https://[redacted:github-token]:[redacted:credential]@github.com/a/b");
  expect(redact(redact(text))).toBe(redact(text));
});

test("redacting twice is redacting once", () => {
  const redactor = createRedactor({ secrets: KNOWN });
  fc.assert(
    fc.property(anyText, (text) => {
      const once = redactor.redact(text);
      expect(redactor.redact(once)).toBe(once);
    }),
    RUNS,
  );
});

test("a text cut anywhere gives what the whole text gives, and nothing that is taken back later", () => {
  const redactor = createRedactor({ secrets: KNOWN });
  fc.assert(
    fc.property(anyText, fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), (text, sizes) => {
      const whole = redactor.redact(text);
      const stream = redactor.stream();
      let given = "";
      for (let at = 0, turn = 0; at < text.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1;
        given += stream.push(text.slice(at, at + size));
        expect(whole.startsWith(given)).toBe(true);
        at += size;
      }
      expect(given + stream.end()).toBe(whole);
    }),
    RUNS,
  );
});

test("a stream that has come to just before a value's last character has shown nothing of it, in any form", () => {
  for (const form of secretForms(VALUE, [])) {
    const stream = createRedactor({ secrets: [VALUE] }).stream();
    expect(stream.push(`a ${form.slice(0, -1)}`)).toBe("a ");
    expect(stream.push(`${form.slice(-1)} .`)).toBe("[redacted:secret] .");
  }
});

test("a text that was cut off keeps all but what may be the beginning of a secret", () => {
  const redactor = createRedactor({
    secrets: [VALUE],
    patterns: [{ kind: "ticket", pattern: /TCK-\d+/ }],
  });
  const github = join("ghp_", RANDOM.slice(0, 35));
  for (const begun of [VALUE.slice(0, -1), VALUE.slice(0, 8), github, join("password=", "hunt")])
    expect(redactor.redactCut(`a line\nTCK-1 and ${begun}`)).toBe("a line\n[redacted:ticket] and ");
  for (const text of ["a line\nand another .", "", "some letters: c0rrect"])
    expect(redactor.redactCut(text)).toBe(text);
  expect(redactor.redactCut(`${VALUE} .`)).toBe("[redacted:secret] .");
});

test("what passes the sieve has nothing that a rule would find", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      if (passesSieve(text)) expect(createRuleScanner().push(text, true)).toBe(text);
    }),
    RUNS,
  );
});

test("no known value survives in any text", () => {
  const value = fc
    .string({ minLength: 8, maxLength: 30, unit: "binary" })
    .filter((text) => text.trim().length >= 8);
  fc.assert(
    fc.property(value, anyText, anyText, (secret, before, after) => {
      const redacted = createRedactor({ secrets: [secret] }).redact(before + secret + after);
      expect(redacted).not.toContain(secret.trim());
    }),
    RUNS,
  );
});

test("ordinary text is not held back, and a secret is answered as soon as it is certain", () => {
  const stream = createRedactor({ secrets: [VALUE] }).stream();
  expect(stream.push("Hello world, ")).toBe("Hello world, ");
  expect(stream.push(VALUE.slice(0, 10))).toBe("");
  expect(stream.push(`${VALUE.slice(10)} `)).toBe("[redacted:secret] ");
  expect(stream.push(PEM.slice(0, 60))).toBe("[redacted:private-key]");
  expect(stream.push(`${PEM.slice(60)}\n. `)).toBe("\n. ");
  expect(stream.end()).toBe("");
});

test("a pattern of the user's own is found however often a line has it, whatever flags it was written with", () => {
  const own = createRedactor({ patterns: [{ kind: "ticket", pattern: /tck-\d+/giy }] });
  expect(own.redact("a TCK-1 and tck-2")).toBe("a [redacted:ticket] and [redacted:ticket]");
  const stream = own.stream();
  expect(stream.push("a TCK-1") + stream.end()).toBe("a [redacted:ticket]");
});

test.each([
  ["gldt-aB3dE5gH7jK9mN1pQ2rS", "[redacted:gitlab-token]"],
  ["whsec_aB3dE5gH7jK9mN1pQ2rS", "[redacted:stripe-key]"],
  ["signing_key = aB3dE5gH7jK9", "signing_key = [redacted:credential]"],
  ["password=[redacted:secret]", "password=[redacted:secret]"],
  ["Authorization: Bearer your-token-goes-here", "Authorization: Bearer your-token-goes-here"],
])("%s is shown as %s", (text, shown) => {
  expect(createRedactor().redact(text)).toBe(shown);
});
