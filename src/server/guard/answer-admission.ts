import { answerError } from "../api/answer-error.ts";
import { noticePage } from "../notice-page.ts";
import type { Admission, Refusal } from "./create-guard.ts";

/** How an answer is to be written. */
export type AnswerForm = { readonly isApi: boolean; readonly nonce: string };

/** Answers a request that does not reach the routes: it was turned away, or used a link. */
export function answerAdmission(
  admission: Exclude<Admission, { kind: "admitted" }>,
  { isApi, nonce }: AnswerForm,
): Response {
  if (admission.kind === "entered") return enter(admission, nonce);
  const { status, code, message, hint } = admission;
  const headers = headersOf(admission);
  if (isApi) return answerError(status, { code, message, hint }, headers);
  const text = noticePage(noticeOf(admission), nonce);
  return new Response(text, { status, headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
}

/**
 * Goes on without the token in the address. A browser that came from another page would not send its new cookie along
 * a redirect, since for it the whole way began elsewhere; from a page of ours it does.
 */
function enter({ setCookie, isFromElsewhere }: Admission & { kind: "entered" }, nonce: string): Response {
  const cookie = setCookie === null ? {} : { "set-cookie": setCookie };
  if (!isFromElsewhere) return new Response(null, { status: 303, headers: { ...cookie, location: "/" } });
  const link = { href: "/", label: "Open Retinue" };
  const text = noticePage({ title: "Opening Retinue", sentences: [], link, isOnward: true }, nonce);
  return new Response(text, { headers: { ...cookie, "content-type": "text/html; charset=utf-8" } });
}

function headersOf({ status, retryAfter }: Refusal): Record<string, string> {
  return {
    ...(status === 401 && { "www-authenticate": 'Bearer realm="retinue"' }),
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
  };
}

function noticeOf({ code, message, hint }: Refusal) {
  const sentences = [sentence(message), sentence(hint)];
  if (code === "auth") return { title: "This page needs a link", sentences };
  // A person who clicks on it there comes from our own page.
  if (code === "origin")
    return { title: "Another page led here", sentences, link: { href: "/", label: "Open Retinue" } };
  return { title: "This cannot be shown", sentences };
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
