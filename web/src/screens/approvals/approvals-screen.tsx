import { ScreenHead } from "../../ui/screen-head.tsx";

/** Not there yet. */
export default function ApprovalsScreen() {
  return <ScreenHead title="Approvals" />;
}
