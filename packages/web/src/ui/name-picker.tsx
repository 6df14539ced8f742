import { Combobox } from "@base-ui/react/combobox";
import { Check, TriangleAlert, X } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { POPUP, POPUP_ITEM } from "./choosers.tsx";
import { join } from "./class-names.ts";
import { type FieldProps, FormField } from "./fields.tsx";

const PLAIN = (): NameLook => ({});

type NamePickerProps = FieldProps<readonly string[]> & {
  choices: readonly string[];
  findNameLook?: (name: string) => NameLook;
  isOpen?: boolean;
};

/** Several names out of a list, as chips; with `isOpen`, names that are not in it can be typed too. */
export function NamePicker({
  label,
  value: names,
  choices,
  onChange,
  findNameLook = PLAIN,
  isOpen = false,
  readOnly = false,
  placeholder = "Add…",
  hint,
}: NamePickerProps) {
  const id = useId();
  const [typed, setTyped] = useState("");
  if (readOnly) return <ReadNames label={label} names={names} findNameLook={findNameLook} />;
  const fresh = typed.trim();
  const all = [...new Set([...choices, ...names])];
  const items = isOpen && fresh && !all.includes(fresh) ? [...all, fresh] : all;
  return (
    <FormField id={id} label={label} hint={hint}>
      <Combobox.Root
        multiple
        autoHighlight
        items={items}
        value={names}
        onValueChange={(chosen, details) => {
          // Escape leaves the list; it must not empty it.
          if (details.reason === "escape-key") return details.cancel();
          onChange(chosen);
          setTyped("");
        }}
        inputValue={typed}
        onInputValueChange={setTyped}
      >
        <Combobox.InputGroup className="min-h-8 cursor-text rounded-md border border-line-strong bg-panel px-1 py-0.75 focus-within:outline-2 focus-within:outline-accent">
          <Combobox.Chips className="flex flex-wrap items-center gap-1">
            {names.map((name) => (
              <NameChip key={name} name={name} look={findNameLook(name)} />
            ))}
            <Combobox.Input
              id={id}
              placeholder={placeholder}
              aria-describedby={hint ? `${id}-note` : undefined}
              className="h-6 min-w-16 flex-1 bg-transparent px-1 text-sm outline-none placeholder:text-ink-3"
            />
          </Combobox.Chips>
        </Combobox.InputGroup>
        <Combobox.Portal>
          <Combobox.Positioner className="z-50" sideOffset={4}>
            <Combobox.Popup className={POPUP}>
              <Combobox.Empty>
                <p className="px-2 py-1.5 text-sm text-ink-3">No matches.</p>
              </Combobox.Empty>
              <Combobox.List>
                {(name: string) => (
                  <Item key={name} name={name} look={findNameLook(name)} isNew={!all.includes(name)} />
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    </FormField>
  );
}

function Item({ name, look, isNew }: { name: string; look: NameLook; isNew: boolean }) {
  return (
    <Combobox.Item value={name} className={POPUP_ITEM}>
      <Combobox.ItemIndicator>
        <Check aria-hidden className="size-3.5 text-accent" />
      </Combobox.ItemIndicator>
      <span className="col-start-2 flex min-w-0 items-center gap-1.5">
        {look.mark}
        <span className="shrink-0">{isNew ? `Add “${name}”` : name}</span>
        {look.about && <span className="truncate text-xs text-ink-3">{look.about}</span>}
      </span>
    </Combobox.Item>
  );
}

/** What a name in the list may carry: a mark before it, and a warning about it. */
export type NameLook = { mark?: ReactNode; warning?: string | null; about?: string };

const CHIP = "flex h-6 max-w-full cursor-default items-center gap-1 rounded pl-1.5 text-xs outline-none";

function NameChip({ name, look }: { name: string; look: NameLook }) {
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

type ReadNamesProps = { label: string; names: readonly string[]; findNameLook: (name: string) => NameLook };

/** Chosen names where nothing can be changed. */
function ReadNames({ label, names, findNameLook }: ReadNamesProps) {
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-1">
      <p className="text-xs font-medium text-ink-2">{label}</p>
      <ul
        aria-label={label}
        className="flex min-h-8 flex-wrap items-center gap-1 rounded-md border border-line-strong bg-raised px-1 py-0.75"
      >
        {names.map((name) => {
          const look = findNameLook(name);
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
