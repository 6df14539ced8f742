import { ScreenHead } from "../../ui/screen-head.tsx";

/** Not there yet. */
export default function ChatScreen() {
  return <ScreenHead title="Chat" />;
}
