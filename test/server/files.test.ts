import { linkSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { clearGround, type Ground, makeGround, openDesk, type WorkDesk } from "./work-desk.ts";

let ground: Ground;
let server: WorkDesk;
const SECRET = "nobody may read this";
const fileUrl = (path: string) => `/api/sessions/ses_1/files?path=${encodeURIComponent(path)}`;

beforeAll(async () => {
  ground = makeGround();
  server = await openDesk(ground, { lead: [] });
  const workspace = join(ground.dataDir, "sessions", "ses_1");
  mkdirSync(join(workspace, "work_products"), { recursive: true });
  writeFileSync(join(ground.root, "secret.txt"), SECRET);
  writeFileSync(join(ground.projectDir, "secret.txt"), SECRET);
  writeFileSync(join(ground.dataDir, "sessions", "secret.txt"), SECRET);
  writeFileSync(join(workspace, "work_products", "report.html"), "<script>alert(1)</script>");
  writeFileSync(join(workspace, "tool.exe"), "MZ");
  writeFileSync(join(workspace, "drawing.svg"), "<svg onload=alert(1)>");
  writeFileSync(join(workspace, "a b%2e.md"), "# hi");
  symlinkSync(join(ground.root, "secret.txt"), join(workspace, "link.txt"));
  symlinkSync(ground.root, join(workspace, "up"));
  linkSync(join(ground.root, "secret.txt"), join(workspace, "hard.txt"));
  const { record } = server.t.runtime;
  await record.startSession({ sessionId: "ses_1", title: "t", project: ground.projectDir, workspace });
  await record.committed();
});
afterAll(async () => {
  await server.stop();
  clearGround(ground);
});

test("a report is shown as a document of no origin in which nothing runs or loads", async () => {
  const response = await server.raw(fileUrl("work_products/report.html"));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const policy = response.headers.get("content-security-policy") ?? "";
  expect(policy).toContain("sandbox;");
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("script-src");
  expect(policy).not.toContain("allow-");
  expect(policy).toContain("frame-ancestors 'self'");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
});

test("what is not known is only saved, and a drawing that could run things is text", async () => {
  const program = await server.raw(fileUrl("tool.exe"));
  expect(program.headers.get("content-disposition")).toMatch(/^attachment;/);
  expect(program.headers.get("content-type")).toBe("application/octet-stream");
  const drawing = await server.raw(fileUrl("drawing.svg"));
  expect(drawing.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  const odd = await server.raw(fileUrl("a b%2e.md"));
  expect([odd.status, await odd.text()]).toEqual([200, "# hi"]);
});

test.each([
  "../secret.txt",
  "../../secret.txt",
  "work_products/../../secret.txt",
  "work_products/../../../secret.txt",
  "..%2fsecret.txt",
  "..\\secret.txt",
  "....//secret.txt",
  "/etc/passwd",
  "//etc/passwd",
  "file:///etc/passwd",
  "link.txt",
  "hard.txt",
  "up/secret.txt",
  "up",
  ".",
  "./work_products/report.html",
  "work_products",
  "work_products/",
  "work_products/report.html/x",
  "work_products/report.html\0.txt",
  "\0",
  "nothing.txt",
  "~/secret.txt",
  `${"a/".repeat(300)}x`,
])("nothing outside the workspace is served: %j", async (path) => {
  const response = await server.raw(fileUrl(path));
  expect(response.status).toBe(404);
  expect(await response.text()).not.toContain(SECRET);
});

test("a path is asked for once, and is of some length", async () => {
  for (const query of ["", "path=", `path=${"x".repeat(1_001)}`, "path=a&path=b", "path=a&more=b"])
    expect((await server.raw(`/api/sessions/ses_1/files?${query}`)).status).toBe(400);
});
