import { expect, test } from "vitest";
import { findKnownServers, parseServer } from "./known-servers.ts";

test("the servers of well-known domains are known, whatever the case", () => {
  expect(findKnownServers("Ada@GMail.com")?.imap).toEqual({
    host: "imap.gmail.com",
    port: 993,
    secure: true,
  });
  expect(findKnownServers("ada@icloud.com")?.smtp).toEqual({
    host: "smtp.mail.me.com",
    port: 587,
    secure: false,
  });
  expect(findKnownServers("ada@gmail.com.evil.example")).toBeUndefined();
});

test("a server is a host and perhaps a port; the usual ports speak TLS from the start", () => {
  expect(parseServer("mail.example.org", 993)).toEqual({ host: "mail.example.org", port: 993, secure: true });
  expect(parseServer("127.0.0.1:1143", 993)).toEqual({ host: "127.0.0.1", port: 1143, secure: false });
  expect(parseServer("[::1]:465", 465)).toEqual({ host: "::1", port: 465, secure: true });
  for (const text of ["", "a b", "http://x", "x:", "x:0", "x:70000", "user@x", "x:1:2"])
    expect(() => parseServer(text, 993)).toThrow("is not a server");
});
