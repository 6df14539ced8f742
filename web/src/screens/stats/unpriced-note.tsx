import { CircleDollarSign } from "lucide-react";
import { CopyText } from "../../ui/controls/copy-text.tsx";

/** Which models had no price, and how to give them one. */
export function UnpricedNote({ models }: { models: readonly string[] }) {
  const [first] = models;
  if (first === undefined) return null;
  const example = JSON.stringify({ prices: { [first]: { input: 0.5, output: 1.5 } } });
  return (
    <aside
      aria-label="Models without a price"
      className="flex items-start gap-3 rounded-lg border border-line bg-panel px-4 py-3 text-sm"
    >
      <CircleDollarSign aria-hidden className="mt-0.5 size-4 shrink-0 text-warn" />
      <div className="grid min-w-0 gap-1.5">
        <p className="wrap-anywhere">
          <strong className="font-semibold">$?</strong> is a cost that is not known, for want of a price of{" "}
          {models.map((model, index) => (
            <span key={model}>
              {index > 0 && ", "}
              <code className="font-mono text-xs">{model}</code>
            </span>
          ))}
          .
        </p>
        <p className="text-ink-2">
          Add prices in USD per million tokens to your settings file, with the numbers of your provider. They
          count for later runs.
        </p>
        <CopyText text={example} />
      </div>
    </aside>
  );
}
