import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { describeRecord } from "../record-contract.ts";
import { createSqliteRecord } from "./create-sqlite-record.ts";

const folder = mkdtempSync(join(tmpdir(), "retinue-record-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describeRecord("a record in a file", {
  open: (place, ports) => createSqliteRecord({ path: join(folder, place), ...ports }),
  isShared: true,
});

describeRecord("a record in memory", {
  open: (_place, ports) => createSqliteRecord({ path: ":memory:", ...ports }),
  isShared: false,
});
