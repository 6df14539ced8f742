import { Autocomplete } from "@base-ui/react/autocomplete";
import { useId, useState } from "react";
import { join } from "../../../ui/join.ts";
import { Field, INPUT } from "./field.tsx";
import { POPUP } from "./popup.ts";

/** A field for any text, with suggestions. */
export function SuggestField({
  label,
  value,
  choices,
  onChange,
  hint,
  readOnly = false,
}: {
  label: string;
  value: string;
  choices: readonly string[];
  onChange: (value: string) => void;
  hint?: string;
  readOnly?: boolean;
}) {
  const id = useId();
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <Field id={id} label={label} hint={hint}>
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
    </Field>
  );
}
