import { describe } from "vitest";
import { describeApprovals } from "./contract/approval-contract.ts";
import { describeChanges } from "./contract/change-contract.ts";
import { type RecordOpener, setStage } from "./contract/contract-stage.ts";
import { describeLeases } from "./contract/lease-contract.ts";
import { describePlans } from "./contract/plan-contract.ts";
import { describeRemoval } from "./contract/removal-contract.ts";
import { describeRowReading } from "./contract/row-contract.ts";
import { describeSessions } from "./contract/session-contract.ts";
import { describeStats } from "./contract/stats-contract.ts";
import { describeUntrusted } from "./contract/untrusted-contract.ts";
import { describeWriting } from "./contract/write-contract.ts";

/** Declares the tests that every implementation of the record must pass. */
export function describeRecord(name: string, open: RecordOpener): void {
  describe(name, () => {
    const stage = setStage(open);
    describe("writing", () => describeWriting(stage));
    describe("sessions", () => describeSessions(stage));
    describe("leases and stops", () => describeLeases(stage));
    describe("rows", () => describeRowReading(stage));
    describe("figures", () => describeStats(stage));
    describe("approvals", () => describeApprovals(stage));
    describe("plans", () => describePlans(stage));
    describe("changes", () => describeChanges(stage));
    describe("untrusted files", () => describeUntrusted(stage));
    describe("removal", () => describeRemoval(stage));
  });
}
