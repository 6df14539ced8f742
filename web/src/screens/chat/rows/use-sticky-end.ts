import { type RefObject, useEffect, useRef, useState } from "react";

const NEAR_PX = 40;
const INTENT_MS = 1_000;
const INTENTS = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

/** Whether the end of what scrolls is held in view: until the person goes up, and again once they are back. */
export function useStickyEnd(scroller: RefObject<HTMLElement | null>, isAtEnd: RefObject<boolean>): boolean {
  const [isAway, setAway] = useState(false);
  const before = useRef({ top: 0, height: 0 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    let intentAtMs = -INTENT_MS;
    const onIntent = ({ timeStamp }: Event) => {
      intentAtMs = timeStamp;
    };
    const onScroll = ({ timeStamp }: Event) => {
      const { scrollTop: top, scrollHeight: height, clientHeight } = element;
      const isNear = height - top - clientHeight <= NEAR_PX;
      // Rows that turn out taller or shorter than thought move the page too; that is nobody's wish.
      const isWished =
        timeStamp - intentAtMs < INTENT_MS || (height === before.current.height && top < before.current.top);
      before.current = { top, height };
      if (isNear) isAtEnd.current = true;
      else if (isWished) isAtEnd.current = false;
      setAway(!isAtEnd.current);
    };
    for (const name of INTENTS) element.addEventListener(name, onIntent, { passive: true });
    element.addEventListener("scroll", onScroll, { passive: true });
    return () => {
      for (const name of INTENTS) element.removeEventListener(name, onIntent);
      element.removeEventListener("scroll", onScroll);
    };
  }, [scroller, isAtEnd]);
  return isAway;
}
