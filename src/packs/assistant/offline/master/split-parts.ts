import type { Domain } from "../assessment.ts";
import { domainOf } from "../domains/route-domain.ts";
import { readRequest } from "../slots/request.ts";

/** One piece of a person's request. */
export type Part = {
  /** As a domain agent is told it. */
  readonly text: string;
  /** Without courtesies; quotations are still there. */
  readonly domain: Domain | undefined;
};

const VERBS =
  "find|look up|get|check|see|invite|send|e-?mail|mail|post|tell|share|announce|schedule|book|set up|arrange|create|draft|reply|summari[sz]e|search|list|show|let|add|cancel|delete|move|reschedule|ping|notify|write|read|catch|validate|put|forward|remind|export|what|what['’]s|who|am i|any|is there|do i";
const JOINT = new RegExp(
  `(?:[.;!?]|,)?\\s+(?:(?:and then|and also|and|then|after that|afterwards|finally|also|plus)\\s*,?\\s+)*(?:please\\s+)?(?=(?:${VERBS})\\b\\s+\\S)`,
  "gi",
);
/** From here on the words are a text to be sent, and where it ends only quotation marks could tell. */
const LOOSE_TEXT = /\b(?:saying|that says|say|telling|that)\s+(?:that\s+)?(?!\ue000)\S|:\s+(?!\ue000)\S/i;

/** Splits a request at what begins with a verb of its own; quoted texts and what follows `saying` stay whole. */
export function splitParts(text: string): Part[] {
  const request = readRequest(text);
  const { head } = request;
  const pieces: string[] = [];
  let from = 0;
  for (const joint of head.matchAll(JOINT)) {
    const before = head.slice(from, joint.index);
    const isJoint = /[.,;!?]|\b(?:and|then|also|plus|after|finally)/i.test(joint[0]);
    if (!isJoint || before.trim() === "") continue;
    if (LOOSE_TEXT.test(before)) break;
    pieces.push(before);
    from = joint.index + joint[0].length;
  }
  pieces.push(head.slice(from));
  const last = pieces.length - 1;
  // Undivided, it is handed on as it stands.
  if (last === 0) return [{ text: text.trim(), domain: domainOf(head) }];
  return pieces
    .map((piece, at) => {
      const clean = piece.replace(/^[\s,.;]+|[\s,.;]+$/g, "");
      const asked = request.asks && at === last ? "?" : "";
      return { text: `${request.requote(clean)}${asked}`, domain: domainOf(readRequest(clean).head) };
    })
    .filter(({ text: piece }) => piece !== "" && piece !== "?");
}
