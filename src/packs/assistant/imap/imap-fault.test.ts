import { expect, test } from "vitest";
import { imapFault } from "./imap-fault.ts";

test.each([
  "NoConnection",
  "EConnectionClosed",
  "StateLogout",
  "ETIMEOUT",
  "ECONNRESET",
  "ClosedAfterConnectTLS",
])("%s is a lost connection, which is tried again", (code) => {
  const fault = imapFault(Object.assign(new Error("Connection closed"), { code }));
  expect([fault.type, fault.recoverable]).toEqual(["network", true]);
});
