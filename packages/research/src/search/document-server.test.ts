import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import {
  buildAddressPath,
  type DocumentServer,
  parseAddressPath,
  startDocumentServer,
} from "./document-server.ts";

let root: string;
let server: DocumentServer;
const served = new Set(["a.html", "ä b.md", "gone.txt", "link.txt", "image.png"]);

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "retinue-server-"));
  writeFileSync(join(root, "a.html"), "<p>hello");
  writeFileSync(join(root, "ä b.md"), "# hi");
  writeFileSync(join(root, "image.png"), "png");
  writeFileSync(join(root, "other.txt"), "not in the index");
  symlinkSync(join(root, "other.txt"), join(root, "link.txt"));
  server = await startDocumentServer((key, path) =>
    key === "k" && served.has(path) ? { root, path } : undefined,
  );
});
afterEach(async () => {
  await server.close();
  rmSync(root, { recursive: true, force: true });
});

/** Sends a path as it is, which `fetch` would tidy up first. */
function ask(path: string, options: http.RequestOptions = {}) {
  const { port } = new URL(server.origin);
  return new Promise<{ status?: number; headers: http.IncomingHttpHeaders; body: string }>(
    (resolve, reject) => {
      const request = http.request({ host: "127.0.0.1", port, path, agent: false, ...options }, (reply) => {
        let body = "";
        reply.setEncoding("utf8").on("data", (text: string) => {
          body += text;
        });
        reply.on("end", () => resolve({ status: reply.statusCode, headers: reply.headers, body }));
      });
      request.on("error", reject).end();
    },
  );
}

test("documents of the index are served as what they are", async () => {
  const page = await ask("/k/a.html?from=x");
  expect(page).toMatchObject({ status: 200, body: "<p>hello", headers: { "content-type": "text/html" } });
  expect(page.headers["content-security-policy"]).toContain("sandbox");
  const notes = await ask(buildAddressPath("k", "ä b.md"));
  expect(notes).toMatchObject({ status: 200, body: "# hi", headers: { "content-type": "text/markdown" } });
});

test("HEAD gives the headers alone", async () => {
  expect(await ask("/k/a.html", { method: "HEAD" })).toMatchObject({
    status: 200,
    body: "",
    headers: { "content-length": "8" },
  });
});

test("nothing else is served", async () => {
  const paths = [
    "/",
    "/k",
    "/k/",
    "/k/other.txt",
    "/x/a.html",
    "/k/../k/a.html",
    "/k/%2e%2e/other.txt",
    "/k//a.html",
  ];
  const odd = [
    "/k/a.html/",
    "/k/a.html%00",
    "/k%2fa.html",
    "/k/..%2fother.txt",
    "/k/gone.txt",
    "/k/link.txt",
    "/k/%zz",
  ];
  for (const path of [...paths, ...odd, "/k/image.png", "http://evil/k/a.html", "*"])
    expect({ path, status: (await ask(path)).status }).toEqual({ path, status: 404 });
});

test("only GET and HEAD are answered", async () => {
  for (const method of ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
    expect(await ask("/k/a.html", { method })).toMatchObject({
      status: 405,
      headers: { allow: "GET, HEAD" },
    });
});

test("another name for this machine is refused, so that no site can reach it through the browser", async () => {
  for (const host of ["evil.example", "localhost", "127.0.0.1", "127.0.0.1:1", ""])
    expect((await ask("/k/a.html", { headers: { host }, setHost: false })).status).not.toBe(200);
});

test("after closing nothing answers, not even on an open connection", async () => {
  const agent = new http.Agent({ keepAlive: true });
  await ask("/k/a.html", { agent });
  await server.close();
  await expect(ask("/k/a.html", { agent })).rejects.toThrow();
});

test("an address leads back to the path it was made from, and no other text to a way out", () => {
  const name = fc
    .string({ minLength: 1, unit: "grapheme" })
    .filter((text) => text.isWellFormed() && !/^\.{1,2}$|[/\\\0]/.test(text));
  fc.assert(
    fc.property(fc.array(name, { minLength: 1, maxLength: 4 }), (names) => {
      const path = names.join("/");
      expect(parseAddressPath(buildAddressPath("key", path))).toEqual({ key: "key", path });
    }),
  );
  const piece = fc.constantFrom("..", ".", "%2e%2e", "/", "%2f", "\\", "a", "%00", "%5c", "//", "?", "#");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const parts = parseAddressPath(`/${pieces.join("")}`);
      if (parts) expect(join("/root", parts.path).startsWith("/root/")).toBe(true);
    }),
  );
});
