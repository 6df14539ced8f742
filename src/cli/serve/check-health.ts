import type { HealthView } from "../../schema/api/inspect.ts";
import { runDoctorChecks } from "../doctor/run-doctor-checks.ts";
import type { CommonOptions } from "../open-project.ts";
import type { Terminal } from "../terminal.ts";

/** What `retinue doctor` would find now; all but the terminal, which a browser does not care about. */
export async function checkHealth(options: CommonOptions, terminal: Terminal): Promise<HealthView["checks"]> {
  const done = await runDoctorChecks(options, terminal);
  return done
    .filter(({ name }) => name !== "terminal")
    .flatMap(({ name, findings }) =>
      findings.map(({ verdict, summary, details, remedy }) => ({
        check: name,
        verdict,
        summary,
        ...(details && { details }),
        ...(remedy && { remedy }),
      })),
    );
}
