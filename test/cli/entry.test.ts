import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "retinue-entry-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const source = readFileSync(new URL("../../scripts/entry.js", import.meta.url), "utf8");
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
writeFileSync(join(folder, "cli.js"), source.replaceAll("OLDEST_NODE", "24"));
writeFileSync(join(folder, "program.js"), "using nothing = undefined; console.log('begun');");

/** Runs the entry under a Node that says it has this version. */
function start(version: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const claim = `Object.defineProperty(process, "versions", { value: { node: "${version}" } })`;
  const args = ["--import", `data:text/javascript,${encodeURIComponent(claim)}`, join(folder, "cli.js")];
  return new Promise((resolve) =>
    execFile(process.execPath, args, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    ),
  );
}

test("under a Node that is too old the program says which one it needs, and reads nothing else", async () => {
  for (const version of ["12.22.0", "20.20.2", "23.11.0"]) {
    const { code, stdout, stderr } = await start(version);
    expect([code, stdout]).toEqual([52, ""]);
    expect(stderr).toMatch(`error: retinue needs Node 24 or newer, and this is Node ${version}`);
    expect(stderr).toMatch(/^hint: /m);
  }
});

test("under a Node that is new enough the program begins", async () => {
  for (const version of ["24.0.0", "30.1.2"])
    expect(await start(version)).toEqual({ code: 0, stdout: "begun\n", stderr: "" });
});

test("the entry uses nothing that an old Node cannot read", () => {
  const code = source.replaceAll(/^\s*(?:\/\/|#!).*$/gm, "");
  expect(code).not.toMatch(/=>|`|\?\.|\?\?|\b(?:let|const|class|async|await|using)\b|^\s*import\s+[^(]/m);
});
