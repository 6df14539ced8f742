import { rootCertificates } from "node:tls";
import { expect, test } from "vitest";
import { buildTls, toImapFault } from "./imap-session.ts";

test.each([
  "NoConnection",
  "EConnectionClosed",
  "StateLogout",
  "ETIMEOUT",
  "ECONNRESET",
  "ClosedAfterConnectTLS",
])("%s is a lost connection, which is tried again", (code) => {
  const fault = toImapFault(Object.assign(new Error("Connection closed"), { code }));
  expect([fault.type, fault.recoverable]).toEqual(["network", true]);
});

const server = { host: "mail.example.org", port: 993, secure: true };
const options = { address: "a@b.example", user: "a", password: "b", imap: server, smtp: server };

test("a custom authority is trusted in addition to the usual ones, not instead", () => {
  expect(buildTls(options)).toEqual({});
  const { ca = [] } = buildTls({ ...options, tls: { ca: "own" } });
  expect(ca.at(-1)).toBe("own");
  expect(ca.length).toBeGreaterThan(rootCertificates.length / 2);
});
