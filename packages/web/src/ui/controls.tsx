import { Tooltip as Base } from "@base-ui/react/tooltip";
import { ChevronRight, type LucideIcon, Search } from "lucide-react";
import type { ComponentProps, FormEvent, ReactElement, ReactNode } from "react";
import { Link } from "wouter";
import { join } from "./class-names.ts";

type Kind = "primary" | "plain" | "quiet" | "danger";

const KINDS: Readonly<Record<Kind, string>> = {
  primary: "bg-accent text-accent-ink border-transparent hover:brightness-110",
  plain: "bg-panel text-ink border-line-strong hover:bg-hover",
  quiet: "bg-transparent text-ink-2 border-transparent hover:bg-hover hover:text-ink",
  danger: "bg-panel text-bad border-line-strong hover:bg-bad-soft",
};

/** `small` is for rows. */
type ButtonLook = { kind?: Kind | undefined; small?: boolean | undefined; className?: string | undefined };

function styleButton({ kind = "plain", small = false, className }: ButtonLook): string {
  return join(
    "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap transition-colors disabled:opacity-50",
    small ? "h-6 px-1.5 text-xs" : "h-8 px-2.5 text-sm",
    KINDS[kind],
    className,
  );
}

/** A button; an icon alone needs an `aria-label`. */
export function Button({ kind, small, className, ...rest }: ComponentProps<"button"> & ButtonLook) {
  return <button type="button" {...rest} className={styleButton({ kind, small, className })} />;
}

type LinkProps = Omit<ComponentProps<"a">, "href" | "ref"> & { href: string };

/** A link to a screen that looks like a button. */
export function ButtonLink({ kind, small, className, ...rest }: LinkProps & ButtonLook) {
  return <Link {...rest} className={styleButton({ kind, small, className })} />;
}

/** A link to a screen within words. */
export function TextLink({ className, ...rest }: LinkProps) {
  return <Link {...rest} className={join("text-accent underline underline-offset-2", className)} />;
}

/** A link to a screen that is an icon alone; it needs an `aria-label`. */
export function IconLink({ className, ...rest }: LinkProps) {
  return (
    <Link
      {...rest}
      className={join(
        "inline-grid size-7 shrink-0 place-items-center rounded-md text-ink-2 hover:bg-hover hover:text-ink",
        className,
      )}
    />
  );
}

/** What a form does when it is sent, in the place of loading a page. */
export function submitWith(act: () => unknown): (event: FormEvent) => void {
  return (event) => {
    event.preventDefault();
    void act();
  };
}

/** The browser's own choice of one among a few, told as text. */
export function Select<Value extends string = string>({
  onChoose,
  className,
  ...rest
}: Omit<ComponentProps<"select">, "onChange"> & { onChoose: (value: Value) => void }) {
  return (
    <select
      {...rest}
      onChange={(event) => onChoose(event.target.value as Value)}
      className={join(
        "h-8 rounded-md border border-line-strong bg-panel px-2 text-sm text-ink-2 hover:bg-hover",
        className,
      )}
    />
  );
}

/** A field to search with; `children` stand at its end. */
export function SearchField({
  around,
  className,
  children,
  ...rest
}: Omit<ComponentProps<"input">, "type"> & { around: string; children?: ReactNode }) {
  return (
    <div className={join("relative", around)}>
      <Search
        aria-hidden
        className="pointer-events-none absolute top-1/2 left-2 size-3.5 -translate-y-1/2 text-ink-3"
      />
      <input
        {...rest}
        type="search"
        className={join(
          "h-8 w-full rounded-md border border-line-strong bg-panel pl-7 text-sm placeholder:text-ink-3",
          className,
        )}
      />
      {children}
    </div>
  );
}

/** Shows whether what it belongs to is open. */
export function Chevron({ isOpen, className }: { isOpen: boolean; className?: string }) {
  return (
    <ChevronRight
      aria-hidden
      className={join(
        "shrink-0 text-ink-3 transition-transform duration-100",
        isOpen && "rotate-90",
        className,
      )}
    />
  );
}

type SegmentedProps<Value extends string> = {
  label: string;
  value: Value;
  /** A mark, such as a count, stands behind the name. */
  choices: readonly { value: Value; name: string; mark?: ReactNode }[];
  onChange: (value: Value) => void;
  className?: string;
};

/** One of a few choices, side by side. */
export function Segmented<Value extends string>({
  label,
  value,
  choices,
  onChange,
  className,
}: SegmentedProps<Value>) {
  return (
    <fieldset className={join("inline-flex rounded-md border border-line-strong bg-panel p-0.5", className)}>
      <legend className="sr-only">{label}</legend>
      {choices.map((choice) => (
        <button
          key={choice.value}
          type="button"
          aria-pressed={choice.value === value}
          onClick={() => onChange(choice.value)}
          className={join(
            "inline-flex h-6.5 items-center gap-1.5 rounded px-2 text-xs font-medium whitespace-nowrap",
            choice.value === value ? "bg-hover text-ink" : "text-ink-2 hover:text-ink",
          )}
        >
          {choice.name}
          {choice.mark}
        </button>
      ))}
    </fieldset>
  );
}

/** The name of the key that makes a letter a command: on Apple's keyboards another one. */
export const MOD = /Mac|iPhone|iPad/.test(navigator.userAgent) ? "⌘" : "Ctrl";

/** Keys as they are printed on a keyboard. */
export function KeyHint({ keys }: { keys: string }) {
  return (
    <span className="inline-flex gap-0.5">
      {keys.split(" ").map((key) => (
        <kbd
          key={key}
          className="min-w-5 rounded border border-line-strong bg-raised px-1 text-center font-mono text-2xs text-ink-2"
        >
          {key}
        </kbd>
      ))}
    </span>
  );
}

type TipButtonProps = ComponentProps<typeof Button> & { icon: LucideIcon; words: string };

/** An icon as a button, with words about it for those who point at it. */
export function TipButton({ icon: Icon, words, kind = "quiet", ...rest }: TipButtonProps) {
  return (
    <Tooltip words={words}>
      <Button {...rest} kind={kind} aria-label={rest["aria-label"] ?? words}>
        <Icon aria-hidden className={rest.small ? "size-3.5" : "size-4"} />
      </Button>
    </Tooltip>
  );
}

type TooltipProps = { words: string; children: ReactElement<Record<string, unknown>> };

/** A few words about a control, for pointer and keyboard alike. */
export function Tooltip({ words, children }: TooltipProps) {
  return (
    <Base.Root>
      <Base.Trigger render={children} />
      <Base.Portal>
        <Base.Positioner sideOffset={6} className="z-50">
          <Base.Popup className="max-w-64 rounded-md bg-ink px-2 py-1 text-xs text-ground shadow-float">
            {words}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
