import { CircleAlert, CircleCheck, CircleX } from "lucide-react";
import type { HealthView } from "../../../../src/schema/api/inspect.ts";
import { join } from "../../ui/join.ts";
import { countOf } from "../../ui/measures.ts";

/** How everything stands, in one line. Problems of files are counted by the checks of those files. */
export function OverallLine({ health: { checks, problems } }: { health: HealthView }) {
  const bad = checks.filter(({ verdict }) => verdict === "problem").length;
  const odd = checks.filter(({ verdict }) => verdict === "warning").length;
  const fine = checks.filter(({ verdict }) => verdict === "ok").length;
  const [Icon, tone, soft] =
    bad > 0
      ? [CircleX, "text-bad", "bg-bad-soft"]
      : odd > 0
        ? [CircleAlert, "text-warn", "bg-warn-soft"]
        : [CircleCheck, "text-ok", "bg-ok-soft"];
  const parts = [
    ...(bad > 0 ? [countOf(bad, "problem")] : []),
    ...(odd > 0 ? [countOf(odd, "warning")] : []),
    `${fine} of ${countOf(checks.length, "check")} are fine`,
    ...(problems.length > 0 ? [`${countOf(problems.length, "remark")} on files`] : []),
  ];
  return (
    <p
      role="status"
      className={join("flex flex-wrap items-center gap-x-2 rounded-lg px-4 py-2.5 text-sm", soft)}
    >
      <Icon aria-hidden className={join("size-4 shrink-0", tone)} />
      <strong className={join("font-semibold", tone)}>
        {bad > 0
          ? "Something does not work"
          : odd > 0
            ? "It works, with less than it could"
            : "Everything works"}
      </strong>
      <span className="figures text-ink-2">{parts.join(", ")}</span>
    </p>
  );
}
