import { Combobox } from "@base-ui/react/combobox";
import { TriangleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { join } from "../../../ui/join.ts";

/** What a name in the list may carry: a mark before it, and a warning about it. */
export type NameLook = { mark?: ReactNode; warning?: string | null; about?: string };

const CHIP = "flex h-6 max-w-full cursor-default items-center gap-1 rounded pl-1.5 text-xs outline-none";

/** A chosen name that can be taken out again. */
export function NameChip({ name, look }: { name: string; look: NameLook }) {
  return (
    <Combobox.Chip
      aria-label={look.warning ? `${name}: ${look.warning}` : name}
      className={join(
        CHIP,
        "data-highlighted:outline-2 data-highlighted:outline-accent",
        look.warning ? "bg-warn-soft text-warn" : "bg-raised text-ink",
      )}
    >
      <ChipWords name={name} look={look} />
      <Combobox.ChipRemove
        aria-label={`Remove ${name}`}
        className="grid size-6 shrink-0 place-items-center rounded hover:bg-hover"
      >
        <X aria-hidden className="size-3" />
      </Combobox.ChipRemove>
    </Combobox.Chip>
  );
}

/** Chosen names where nothing can be changed. */
export function ReadNames({
  label,
  names,
  lookOf,
}: {
  label: string;
  names: readonly string[];
  lookOf: (name: string) => NameLook;
}) {
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-1">
      <p className="text-xs font-medium text-ink-2">{label}</p>
      <ul
        aria-label={label}
        className="flex min-h-8 flex-wrap items-center gap-1 rounded-md border border-line-strong bg-raised px-1 py-0.75"
      >
        {names.map((name) => {
          const look = lookOf(name);
          const tone = look.warning ? "bg-warn-soft text-warn" : "bg-panel text-ink";
          return (
            <li key={name} className={join(CHIP, "pr-1.5", tone)}>
              <ChipWords name={name} look={look} />
            </li>
          );
        })}
        {names.length === 0 && <li className="px-1 text-sm text-ink-2">none</li>}
      </ul>
    </div>
  );
}

function ChipWords({ name, look }: { name: string; look: NameLook }) {
  return (
    <>
      {look.warning ? <TriangleAlert aria-hidden className="size-3 shrink-0" /> : look.mark}
      <span className="truncate font-medium">{name}</span>
      {look.warning && <span className="truncate">({look.warning})</span>}
    </>
  );
}
