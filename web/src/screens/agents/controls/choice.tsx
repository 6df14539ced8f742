import { Select } from "@base-ui/react/select";
import { Check, ChevronsUpDown } from "lucide-react";
import type { ReactNode } from "react";
import { join } from "../../../ui/join.ts";
import { POPUP, POPUP_ITEM } from "./popup.ts";

/** One thing that can be chosen, in a few words. */
export type Option<Value extends string> = { value: Value; label: string; about?: string; mark?: ReactNode };

/** A choice of one among a few. */
export function Choice<Value extends string>({
  label,
  value,
  options,
  onChange,
  readOnly = false,
  isLabelHidden = false,
  small = false,
}: {
  label: string;
  value: Value;
  options: readonly Option<Value>[];
  onChange: (value: Value) => void;
  readOnly?: boolean;
  isLabelHidden?: boolean;
  small?: boolean;
}) {
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
        <Select.Trigger
          className={join(
            "flex w-full min-w-0 items-center justify-between gap-2 rounded-md border border-line-strong bg-panel px-2 text-left text-sm hover:bg-hover data-disabled:bg-raised data-disabled:text-ink-2",
            small ? "h-7" : "h-8",
          )}
        >
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
