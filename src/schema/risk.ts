/** low: reads; medium: a contained change; high: external, bulk or irreversible. */
export type Risk = "low" | "medium" | "high";
