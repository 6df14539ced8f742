import { FileCheck } from "lucide-react";
import { useSignal } from "../../../live/signal.ts";
import { Empty, Loading } from "../../../ui/states.tsx";
import { DiffView } from "../../../ui/text/diff-view.tsx";
import { useDraft } from "../draft/use-draft.tsx";

/** Against the file as it is on disk. */
export function DiffTab() {
  const review = useSignal(useDraft().review);
  if (!review) return <Loading rows={3} label="Comparing" />;
  if (review.diff === "") return <Empty icon={FileCheck} title="Nothing differs from the file" />;
  return (
    <div className="grid grid-cols-1 gap-2 p-3">
      <p className="text-xs text-ink-3">Lines with − are in the file, lines with + are yours.</p>
      <DiffView patch={review.diff} label="Difference to the file" />
      {review.kept.length > 0 && (
        <p className="text-xs text-ink-2">
          Keys that Retinue does not know stay in the file:{" "}
          <span className="font-mono">{review.kept.join(", ")}</span>
        </p>
      )}
    </div>
  );
}
