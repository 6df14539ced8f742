import { X } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useShortcuts } from "../frame/shortcuts.ts";
import { Button, KeyHint, SearchField } from "./controls.tsx";

const WAIT_MS = 180;

type SearchBoxProps = {
  label: string;
  /** What the help says of the key that leads here. */
  does: string;
  around: string;
  value: string;
  onChange: (text: string) => void;
  /** The person is done with typing and wants the list. */
  onLeave?: () => void;
};

/** A field to search a list with: `/` leads to it, what is typed is told once typing rests, and Escape empties it, then leaves it. */
export function SearchBox({ label, does, around, value, onChange, onLeave }: SearchBoxProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const told = useRef(value);
  useEffect(() => {
    // The address changed by other means, such as Back.
    if (value !== told.current) setText(value);
    told.current = value;
  }, [value]);
  // A layout effect, because a page that is left is only hidden until the next one is loaded.
  useLayoutEffect(() => {
    if (text.trim() === told.current) return;
    const timer = setTimeout(() => {
      told.current = text.trim();
      onChange(text.trim());
    }, WAIT_MS);
    return () => clearTimeout(timer);
  });
  useShortcuts([{ keys: "/", does, act: () => field.current?.focus() }]);
  const leave = onLeave ?? (() => field.current?.blur());
  return (
    <SearchField
      around={around}
      ref={field}
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={(event) => {
        if (event.key === "Escape" && text !== "") setText("");
        else if (event.key === "Escape" || (onLeave && /^(ArrowDown|Enter)$/.test(event.key))) leave();
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
      className="pr-8 [&::-webkit-search-cancel-button]:hidden"
    >
      <span className="absolute top-1/2 right-1.5 -translate-y-1/2">
        {text === "" ? (
          <span className="pointer-events-none max-sm:hidden">
            <KeyHint keys="/" />
          </span>
        ) : (
          <Button kind="quiet" small aria-label="Clear the search" onClick={() => setText("")}>
            <X className="size-3" />
          </Button>
        )}
      </span>
    </SearchField>
  );
}
