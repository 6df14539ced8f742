import type { ReactNode } from "react";
import { useTabTitle } from "../frame/places.ts";
import { join } from "./class-names.ts";

type ScreenHeadProps = {
  title: ReactNode;
  /** What the browser's tab is called, where that is not the title. */
  tab?: string;
  about?: ReactNode;
  /** What belongs to the title is long: where it does not fit beside the rest it has a line of its own. */
  isCrowded?: boolean;
  children?: ReactNode;
};

/** The line above every screen: its title, what belongs to it, and what can be done. */
export function ScreenHead({ title, tab, about, isCrowded = false, children }: ScreenHeadProps) {
  const words = typeof title === "string" ? title : undefined;
  useTabTitle(tab ?? words ?? "");
  return (
    <header
      className={join(
        "flex min-h-12 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line bg-panel px-4 py-2",
        isCrowded && "xl:flex-nowrap",
      )}
    >
      <h1
        title={words}
        className={join(
          "min-w-0 truncate text-base font-semibold",
          isCrowded && "max-xl:flex-1 max-xl:basis-28 xl:max-w-[45%]",
        )}
      >
        {title}
      </h1>
      {about && (
        <div
          className={join(
            "min-w-0 text-xs text-ink-3",
            isCrowded && "max-xl:order-last max-xl:basis-full xl:flex-1",
          )}
        >
          {about}
        </div>
      )}
      {children && (
        <div className={join("ml-auto flex flex-wrap items-center gap-1.5", isCrowded && "shrink-0")}>
          {children}
        </div>
      )}
    </header>
  );
}
