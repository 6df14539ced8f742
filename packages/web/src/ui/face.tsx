import { useFace } from "../data/queries.ts";
import { join } from "./class-names.ts";

/** Colours an agent file may name, and the hue of each. */
export const AGENT_COLOURS: Readonly<Record<string, number>> = {
  red: 25,
  orange: 55,
  yellow: 90,
  green: 150,
  teal: 185,
  cyan: 210,
  blue: 250,
  indigo: 272,
  violet: 292,
  purple: 300,
  magenta: 330,
  pink: 350,
};

/** A hue for an agent: the one its file names, or one that its name always gives. */
export function chooseHue(name: string, color: string | null): number {
  const word = color?.toLowerCase() ?? "";
  const named = Object.hasOwn(AGENT_COLOURS, word) ? AGENT_COLOURS[word] : undefined;
  if (named !== undefined) return named;
  let hash = 0;
  for (const letter of color ?? name) hash = (hash * 31 + letter.charCodeAt(0)) % 360;
  return hash;
}

const MOST_SIGNS = 2;
const MOST_CHARS = 64;

/** What fits into the mark: a file may name a whole text as its icon. */
function takeSigns(text: string | null, most = MOST_SIGNS): string {
  const signs = [...new Intl.Segmenter().segment(text?.slice(0, MOST_CHARS) ?? "")];
  return signs
    .slice(0, most)
    .map(({ segment }) => segment)
    .join("");
}

/** The mark of an agent: its icon, or its first letter, on its own colour. */
export function AgentMark({ name, size = "md" }: { name: string; size?: "sm" | "md" }) {
  const { icon, color, displayName } = useFace(name);
  const hue = chooseHue(name, color);
  return (
    <span
      aria-hidden
      className={join(
        "inline-grid shrink-0 place-items-center overflow-hidden rounded-md leading-none font-semibold select-none",
        size === "sm" ? "size-5 text-xs" : "size-6 text-sm",
      )}
      style={{ background: `oklch(0.7 0.12 ${hue} / 0.18)`, color: `oklch(0.6 0.14 ${hue})` }}
    >
      {takeSigns(icon) || takeSigns(displayName.trim(), 1).toUpperCase()}
    </span>
  );
}

/** The mark and the name. */
export function AgentName({ name, size = "md" }: { name: string; size?: "sm" | "md" }) {
  const { displayName } = useFace(name);
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-1.5">
      <AgentMark name={name} size={size} />
      <span className="truncate font-medium" title={displayName}>
        {displayName}
      </span>
    </span>
  );
}
