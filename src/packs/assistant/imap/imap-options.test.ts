import { rootCertificates } from "node:tls";
import { expect, test } from "vitest";
import { tlsOf } from "./imap-options.ts";

const server = { host: "mail.example.org", port: 993, secure: true };
const options = { address: "a@b.example", user: "a", password: "b", imap: server, smtp: server };

test("an authority of one's own is trusted besides the usual ones, not in their place", () => {
  expect(tlsOf(options)).toEqual({});
  const { ca = [] } = tlsOf({ ...options, tls: { ca: "own" } });
  expect(ca.at(-1)).toBe("own");
  expect(ca.length).toBeGreaterThan(rootCertificates.length / 2);
});
