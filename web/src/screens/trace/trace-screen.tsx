import { ScreenHead } from "../../ui/screen-head.tsx";

/** Not there yet. */
export default function TraceScreen() {
  return <ScreenHead title="Trace" />;
}
