import { Autocomplete } from "@base-ui/react/autocomplete";
import { Select } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import { type ReactNode, useId, useState } from "react";
import { join } from "./class-names.ts";
import { type FieldProps, FormField, INPUT } from "./fields.tsx";

/** How lists that open above the page look. */
export const POPUP =
  "max-h-[min(22rem,var(--available-height))] min-w-(--anchor-width) max-w-[min(26rem,var(--available-width))] overflow-y-auto overscroll-contain rounded-lg border border-line bg-panel p-1 shadow-float outline-none";

/** One line of such a list: a tick, then the words. */
export const POPUP_ITEM =
  "grid cursor-default grid-cols-[1rem_1fr] items-center gap-1.5 rounded-md py-1 pr-3 pl-1.5 text-sm outline-none select-none data-highlighted:bg-hover";

type Option<Value extends string> = { value: Value; label: string; about?: string; mark?: ReactNode };

type ChoiceFieldProps<Value extends string> = Omit<FieldProps<Value>, "hint" | "placeholder"> & {
  options: readonly Option<Value>[];
  isLabelHidden?: boolean;
};

/** A choice of one among a few. */
export function ChoiceField<Value extends string>({
  label,
  value,
  options,
  onChange,
  readOnly = false,
  isLabelHidden = false,
}: ChoiceFieldProps<Value>) {
  return (
    <div className="relative grid min-w-0 grid-cols-1 content-start gap-1">
      <Select.Root
        items={options}
        value={value}
        onValueChange={(chosen) => chosen !== null && onChange(chosen)}
        disabled={readOnly}
      >
        <Select.Label className={isLabelHidden ? "sr-only" : "text-xs font-medium text-ink-2"}>
          {label}
        </Select.Label>
        <Select.Trigger className="flex h-8 w-full min-w-0 items-center justify-between gap-2 rounded-md border border-line-strong bg-panel px-2 text-left text-sm hover:bg-hover data-disabled:bg-raised data-disabled:text-ink-2">
          <Select.Value className="truncate" />
          <Select.Icon>
            <ChevronsUpDown aria-hidden className="size-3.5 text-ink-3" />
          </Select.Icon>
        </Select.Trigger>
        <Select.Portal>
          <Select.Positioner className="z-50" sideOffset={4} alignItemWithTrigger={false}>
            <Select.Popup className={POPUP}>
              <Select.List>
                {options.map((option) => (
                  <Item key={option.value} {...option} />
                ))}
              </Select.List>
            </Select.Popup>
          </Select.Positioner>
        </Select.Portal>
      </Select.Root>
    </div>
  );
}

function Item({ value, label, about, mark }: Option<string>) {
  return (
    <Select.Item value={value} className={POPUP_ITEM}>
      <Select.ItemIndicator>
        <Check aria-hidden className="size-3.5 text-accent" />
      </Select.ItemIndicator>
      <span className="col-start-2 min-w-0">
        <span className="flex items-center gap-1.5">
          {mark}
          <Select.ItemText>{label}</Select.ItemText>
        </span>
        {about && <span className="block text-xs text-pretty text-ink-3">{about}</span>}
      </span>
    </Select.Item>
  );
}

type SuggestFieldProps = Omit<FieldProps<string>, "placeholder"> & { choices: readonly string[] };

/** A field for any text, with suggestions. */
export function SuggestField({ label, value, choices, onChange, hint, readOnly = false }: SuggestFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <FormField id={id} label={label} hint={hint}>
      <Autocomplete.Root
        items={choices}
        value={typed ?? value}
        readOnly={readOnly}
        openOnInputClick
        filter={(choice, query) => query === value || choice.includes(query)}
        onValueChange={(next, details) => {
          // Escape closes the suggestions; it must not empty the field.
          if (details.reason === "escape-key") return details.cancel();
          setTyped(next);
          onChange(next.trim());
        }}
      >
        <Autocomplete.Input
          id={id}
          spellCheck={false}
          aria-describedby={hint ? `${id}-note` : undefined}
          onBlur={() => setTyped(null)}
          className={join(INPUT, "h-8 font-mono text-xs")}
        />
        <Autocomplete.Portal>
          <Autocomplete.Positioner className="z-50" sideOffset={4}>
            <Autocomplete.Popup className={join(POPUP, "data-empty:hidden")}>
              <Autocomplete.List>
                {(choice: string) => (
                  <Autocomplete.Item
                    key={choice}
                    value={choice}
                    className="cursor-default rounded-md px-2 py-1 font-mono text-xs outline-none select-none data-highlighted:bg-hover"
                  >
                    {choice}
                  </Autocomplete.Item>
                )}
              </Autocomplete.List>
            </Autocomplete.Popup>
          </Autocomplete.Positioner>
        </Autocomplete.Portal>
      </Autocomplete.Root>
    </FormField>
  );
}
