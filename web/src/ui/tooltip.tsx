import { Tooltip as Base } from "@base-ui/react/tooltip";
import type { ReactElement } from "react";

/** A few words about a control, for pointer and keyboard alike. */
export function Tooltip({
  words,
  children,
}: {
  words: string;
  children: ReactElement<Record<string, unknown>>;
}) {
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
