import { Combobox } from "@base-ui/react/combobox";
import { Check } from "lucide-react";
import { useId, useState } from "react";
import { NameChip, type NameLook, ReadNames } from "./name-chip.tsx";
import { POPUP, POPUP_ITEM } from "./popup.ts";

const PLAIN = (): NameLook => ({});

/** Several names out of a list, as chips; with `isOpen`, names that are not in it can be typed too. */
export function NamePicker({
  label,
  names,
  choices,
  onChange,
  lookOf = PLAIN,
  isOpen = false,
  readOnly = false,
  placeholder = "Add…",
  hint,
}: {
  label: string;
  names: readonly string[];
  choices: readonly string[];
  onChange: (names: string[]) => void;
  lookOf?: (name: string) => NameLook;
  isOpen?: boolean;
  readOnly?: boolean;
  placeholder?: string;
  hint?: string;
}) {
  const id = useId();
  const [typed, setTyped] = useState("");
  if (readOnly) return <ReadNames label={label} names={names} lookOf={lookOf} />;
  const fresh = typed.trim();
  const all = [...new Set([...choices, ...names])];
  const items = isOpen && fresh && !all.includes(fresh) ? [...all, fresh] : all;
  return (
    <div className="grid min-w-0 grid-cols-1 content-start gap-1">
      <label htmlFor={id} className="text-xs font-medium text-ink-2">
        {label}
      </label>
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
              <NameChip key={name} name={name} look={lookOf(name)} />
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
                <p className="px-2 py-1.5 text-sm text-ink-3">Nothing fits.</p>
              </Combobox.Empty>
              <Combobox.List>
                {(name: string) => (
                  <Item key={name} name={name} look={lookOf(name)} isNew={!all.includes(name)} />
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
      {hint && (
        <p id={`${id}-note`} className="text-xs text-pretty text-ink-3">
          {hint}
        </p>
      )}
    </div>
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
