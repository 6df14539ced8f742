import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { join } from "./class-names.ts";
import { Button } from "./controls.tsx";

/** Asks once more before something that cannot be taken back. */
export function ConfirmDialog({
  yes,
  no,
  isBusy = false,
  onYes,
  children,
  ...rest
}: Omit<ComponentProps<typeof Dialog>, "wide"> & {
  /** What the two buttons say. */
  yes: string;
  no: string;
  isBusy?: boolean;
  onYes: () => void;
}) {
  return (
    <Dialog {...rest}>
      <div className="grid gap-4 text-sm text-ink-2">
        {children}
        <div className="flex justify-end gap-2">
          <Button onClick={rest.onClose}>{no}</Button>
          <Button kind="danger" disabled={isBusy} onClick={onYes}>
            {yes}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

type DialogProps = {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  wide?: boolean;
  /** What gets the focus when it is closed; null: what had it before. */
  finalFocus?: () => HTMLElement | null;
};

/** A window over the page: focus stays inside, Escape closes it. */
export function Dialog({ open, onClose, title, children, wide = false, finalFocus }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40 backdrop-blur-[2px]" />
        <Base.Popup
          {...(finalFocus && { finalFocus })}
          className={join(
            "fixed top-[12vh] left-1/2 z-50 flex max-h-[76vh] w-[calc(100vw-2rem)] -translate-x-1/2 animate-arrive flex-col rounded-xl border border-line bg-panel shadow-float",
            wide ? "max-w-4xl" : "max-w-lg",
          )}
        >
          <div className="flex items-center justify-between gap-3 border-b border-line px-4 py-2.5">
            <Base.Title className="text-base font-semibold">{title}</Base.Title>
            <Base.Close render={<Button kind="quiet" small aria-label="Close" />}>
              <X className="size-4" />
            </Base.Close>
          </div>
          <div className="min-h-0 overflow-auto p-4">{children}</div>
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}
