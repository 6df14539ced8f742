import { useFace } from "../api/queries.ts";
import { join } from "./join.ts";

/** Colours an agent file may name, and what any other word or code becomes. */
const NAMED: Readonly<Record<string, number>> = {
  red: 25,
  orange: 55,
  yellow: 90,
  green: 150,
  teal: 185,
  cyan: 210,
  blue: 250,
  indigo: 272,
  purple: 300,
  violet: 292,
  magenta: 330,
  pink: 350,
};

/** A hue for an agent: the one its file names, or one that its name always gives. */
export function hueOf(name: string, color: string | null): number {
  const named = NAMED[color?.toLowerCase() ?? ""];
  if (named !== undefined) return named;
  let hash = 0;
  for (const letter of color ?? name) hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return hash;
}

/** The mark of an agent: its icon, or its first letter, on its own colour. */
export function AgentMark({ name, size = "md" }: { name: string; size?: "sm" | "md" | "lg" }) {
  const { icon, color, displayName } = useFace(name);
  const hue = hueOf(name, color);
  return (
    <span
      aria-hidden
      className={join(
        "inline-grid shrink-0 place-items-center rounded-md leading-none font-semibold select-none",
        size === "sm" ? "size-5 text-xs" : size === "lg" ? "size-9 text-lg" : "size-6 text-sm",
      )}
      style={{ background: `oklch(0.7 0.12 ${hue} / 0.18)`, color: `oklch(0.6 0.14 ${hue})` }}
    >
      {icon ?? displayName.slice(0, 1).toUpperCase()}
    </span>
  );
}

/** The mark and the name. */
export function AgentName({ name, size = "md" }: { name: string; size?: "sm" | "md" }) {
  const { displayName } = useFace(name);
  return (
    <span className="inline-flex min-w-0 items-center gap-1.5">
      <AgentMark name={name} size={size} />
      <span className="truncate font-medium">{displayName}</span>
    </span>
  );
}
