import { MapPinOff } from "lucide-react";
import { Link } from "wouter";
import { Empty } from "../ui/states.tsx";

/** An address that leads nowhere. */
export default function LostScreen() {
  return (
    <Empty icon={MapPinOff} title="There is nothing here">
      <Link href="/" className="text-accent underline">
        Go to the chat
      </Link>
    </Empty>
  );
}
