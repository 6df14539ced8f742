import type { DatabaseSync, SQLOutputValue } from "node:sqlite";
import { RetinueError } from "../../schema/error.ts";
import { listSome } from "../../schema/list-some.ts";
import type { ExecutionPlan } from "../../schema/plan.ts";
import { decodeText, encodeText } from "../lossless-text.ts";
import type { PlanPort, PlanQuery } from "../record.ts";
import { storeText } from "./sql.ts";

/** Of the stored JSON; a program that finds a higher one leaves it alone. */
const FORMAT = 1;
const NEWEST =
  "SELECT plan_json, format, changed FROM plans AS one WHERE version = (SELECT max(version) FROM plans WHERE plan_id = one.plan_id)";

/** The place in the order of changes that a change takes. */
const NEXT_CHANGE = "(SELECT coalesce(max(changed), 0) + 1 FROM plans)";

/** Keeps plans. */
export function createPlanTable(db: DatabaseSync): PlanPort {
  const insert = db.prepare(
    `INSERT INTO plans (plan_id, version, status, updated_at, format, plan_json, project, changed)
      VALUES (?, ?, ?, ?, ?, ?, ?, ${NEXT_CHANGE}) ON CONFLICT DO NOTHING`,
  );
  const update = db.prepare(
    `UPDATE plans SET status = ?3, updated_at = ?4, format = ?5, plan_json = ?6, project = ?7, changed = ${NEXT_CHANGE}
      WHERE plan_id = ?1 AND version = ?2 AND status IN (SELECT value FROM json_each(?8))`,
  );
  const byId = db.prepare(`${NEWEST} AND plan_id = ?`);
  const prefixed = db.prepare(`${NEWEST} AND substr(plan_id, 1, length(?1)) = ?1 LIMIT 6`);
  const list = db.prepare(`${NEWEST} AND (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR changed < ?2)
    ORDER BY changed DESC LIMIT ?3`);

  function find(planId: string): ExecutionPlan | undefined {
    const row = byId.get(planId);
    return row && readPlan(row);
  }
  const listRows = ({ limit = 50, project, before }: PlanQuery) =>
    list.all(storeText(project), before ?? null, limit);
  return {
    readPlan: async (planId) => find(planId),
    async listPlans({ limit = 50, ...query } = {}) {
      const rows = listRows({ ...query, limit: limit < 0 ? limit : limit + 1 });
      const shown = limit < 0 ? rows : rows.slice(0, limit);
      const next = rows.length > shown.length ? Number(shown.at(-1)?.changed) : null;
      return { plans: shown.map(readPlan), next };
    },
    async addPlan(added) {
      if (insert.run(...listValues(added)).changes === 1) return;
      const message = `plan ${added.id} was changed by somebody else: there is a version ${added.version} already`;
      throw new RetinueError("input", message, `look at it with: retinue plan show ${added.id}`);
    },
    changePlan: async (changed, from) =>
      update.run(...listValues(changed), JSON.stringify(from)).changes === 1,
    async findPlan(prefix) {
      const exact = find(prefix);
      if (exact) return exact;
      const found = prefix === "" ? [] : prefixed.all(prefix).map(readPlan);
      if (found.length === 1 && found[0]) return found[0];
      throw notFound(prefix, found, listRows({ limit: 5 }).map(readPlan));
    },
  };
}

function listValues(plan: ExecutionPlan): [string, number, string, string, number, string, string] {
  const at = new Date(plan.updatedAtMs).toISOString();
  const json = encodeText(JSON.stringify(plan));
  return [plan.id, plan.version, plan.status, at, FORMAT, json, encodeText(plan.project)];
}

function readPlan(row: Record<string, SQLOutputValue>): ExecutionPlan {
  if (Number(row.format) > FORMAT)
    throw new RetinueError("store", `a plan was stored by a newer version of Retinue`, "update Retinue");
  return JSON.parse(decodeText(String(row.plan_json))) as ExecutionPlan;
}

function notFound(
  prefix: string,
  found: readonly ExecutionPlan[],
  recent: readonly ExecutionPlan[],
): RetinueError {
  const ids = listSome((found.length > 0 ? found : recent).map((plan) => plan.id));
  if (found.length > 0)
    return new RetinueError("input", `'${prefix}' fits several plans: ${ids}`, "give more of the id");
  if (ids === "")
    return new RetinueError(
      "input",
      `no plan '${prefix}'; there are none yet`,
      'make one with: retinue plan "goal"',
    );
  return new RetinueError(
    "input",
    `no plan '${prefix}'; the latest are: ${ids}`,
    "list them with: retinue plan list",
  );
}
