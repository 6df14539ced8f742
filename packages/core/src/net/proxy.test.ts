import { expect, test } from "vitest";
import { findProxy } from "./proxy.ts";

const find = (url: string, env: NodeJS.ProcessEnv) => findProxy(new URL(url), env);

test("each protocol has a proxy of its own, and a name in lower case goes first", () => {
  const env = { HTTP_PROXY: "http://one:1", https_proxy: "https://two", HTTPS_PROXY: "http://three:3" };
  expect(find("http://a.example/", env)).toEqual({ secure: false, hostname: "one", port: 1 });
  expect(find("https://a.example/", env)).toEqual({ secure: true, hostname: "two", port: 443 });
  expect(find("https://a.example/", { http_proxy: "http://one:1" })).toBeNull();
});

test("an address without a protocol is one of http, and a login is kept apart", () => {
  expect(find("http://a.example/", { http_proxy: "[::1]:3128" })).toEqual({
    secure: false,
    hostname: "::1",
    port: 3128,
  });
  expect(find("http://a.example/", { http_proxy: "http://me:p%40ss@p:1" })).toMatchObject({
    authorization: `Basic ${btoa("me:p@ss")}`,
  });
});

test.each([
  ["*", "http://a.example/", true],
  ["a.example", "http://a.example/", true],
  ["a.example", "http://b.a.example/", true],
  [".a.example", "http://b.a.example/", true],
  ["*.a.example", "http://b.a.example/", true],
  ["a.example", "http://ba.example/", false],
  ["x.example, A.Example", "http://a.example/", true],
  ["a.example:8080", "http://a.example:8080/", true],
  ["a.example:8080", "http://a.example/", false],
  ["a.example:443", "https://a.example/", true],
  ["10.0.0.1-10.0.0.9", "http://10.0.0.5/", true],
  ["10.0.0.1-10.0.0.9", "http://10.0.1.5/", false],
  ["::1", "http://[::1]/", true],
  ["[::1]:8080", "http://[::1]:8080/", true],
  ["[::1]:8080", "http://[::1]/", false],
  ["[2001:db8::1]", "http://[2001:db8::1]:8080/", true],
  ["2001:db8::1", "http://[2001:db8::1]:8080/", true],
  ["", "http://a.example/", false],
])("NO_PROXY=%s and %s: direct is %s", (list, url, isDirect) => {
  const env = { http_proxy: "http://p:1", https_proxy: "http://p:1", NO_PROXY: list };
  expect(find(url, env) === null).toBe(isDirect);
});

test("a proxy that is no address is an error that names the setting", () => {
  expect(() => find("http://a.example/", { http_proxy: "socks5://p:1" })).toThrow(
    /HTTP_PROXY .* no http or https address/,
  );
});

test.each(["http://me:100%@p:1", "http://%ff@p:1"])(
  "the login of %s is an error that does not show it",
  (named) => {
    expect(() => find("https://a.example/", { https_proxy: named })).toThrow(
      expect.objectContaining({ failure: "other", message: expect.not.stringMatching(/100|ff/) }),
    );
  },
);

test("a proxy may want a password without a name", () => {
  expect(find("http://a.example/", { http_proxy: "http://:secret@p:1" })).toMatchObject({
    authorization: `Basic ${btoa(":secret")}`,
  });
});
