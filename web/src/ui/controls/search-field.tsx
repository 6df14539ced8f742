import { Search } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { join } from "../join.ts";

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
