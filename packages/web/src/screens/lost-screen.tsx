import { MapPinOff } from "lucide-react";
import { Link } from "wouter";
import { useTabTitle } from "../shell/places.ts";
import { ScreenHead } from "../ui/screen-head.tsx";
import { Empty } from "../ui/states.tsx";

/** An address that leads nowhere. */
export default function LostScreen() {
  useTabTitle("Not found");
  return (
    <>
      <ScreenHead title="Nothing here" />
      <Empty icon={MapPinOff} title="This address leads nowhere">
        <Link href="/" className="text-accent underline">
          Go to the chat
        </Link>
      </Empty>
    </>
  );
}
