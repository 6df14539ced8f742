import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const BOOTSTRAP = fileURLToPath(new URL("../scripts/bootstrap.mjs", import.meta.url));

/** A project with one dependency, a folder of its own, so that nothing is asked of a registry. */
function makeProject(root: string): void {
  const put = (path: string, value: unknown) => {
    mkdirSync(join(root, path, ".."), { recursive: true });
    writeFileSync(join(root, path), typeof value === "string" ? value : JSON.stringify(value));
  };
  const local = { name: "local", version: "1.0.0", bin: { local: "local.js" } };
  const self = { name: "project", version: "1.0.0", dependencies: { local: "file:local" } };
  put("package.json", self);
  put("package-lock.json", {
    ...self,
    lockfileVersion: 3,
    packages: { "": self, local, "node_modules/local": { resolved: "local", link: true } },
  });
  put("local/package.json", local);
  put("local/local.js", "");
  mkdirSync(join(root, "scripts"));
  copyFileSync(BOOTSTRAP, join(root, "scripts/bootstrap.mjs"));
}

test.skipIf(process.platform === "win32")(
  "a Node that was brought earlier is linked again after the dependencies were installed anew",
  () => {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "retinue-bootstrap-")));
    try {
      makeProject(root);
      const bin = join(root, ".node/node_modules/node-here/bin");
      mkdirSync(bin, { recursive: true });
      const brought = join(bin, "node");
      copyFileSync(process.execPath, brought);
      execFileSync(brought, ["scripts/bootstrap.mjs"], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
      expect(realpathSync(join(root, "node_modules/.bin/node"))).toBe(brought);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  },
);
