import { answerError } from "../http/http-errors.ts";
import type { RequestAdmission, RequestRefusal } from "./create-guard.ts";

/** How to write an answer. */
type AnswerForm = { readonly isApi: boolean; readonly nonce: string };

/** Answers a request that does not reach the routes: it was turned away, or used a link. */
export function answerAdmission(
  admission: Exclude<RequestAdmission, { kind: "admitted" }>,
  { isApi, nonce }: AnswerForm,
): Response {
  if (admission.kind === "entered") return enter(admission, nonce);
  const { status, code, message, hint } = admission;
  const headers = listHeaders(admission);
  if (isApi) return answerError(status, { code, message, hint }, headers);
  const text = noticePage(composeNotice(admission), nonce);
  return new Response(text, { status, headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
}

/**
 * Goes on without the token in the address. A browser that came from another page would not send its new cookie along
 * a redirect, since for it the whole way began elsewhere; from a page of ours it does.
 */
function enter(
  { setCookie, isFromElsewhere }: RequestAdmission & { kind: "entered" },
  nonce: string,
): Response {
  const cookie = setCookie === null ? {} : { "set-cookie": setCookie };
  if (!isFromElsewhere) return new Response(null, { status: 303, headers: { ...cookie, location: "/" } });
  const link = { href: "/", label: "Open Retinue" };
  const text = noticePage({ title: "Opening Retinue", sentences: [], link, isOnward: true }, nonce);
  return new Response(text, { headers: { ...cookie, "content-type": "text/html; charset=utf-8" } });
}

function listHeaders({ status, retryAfter }: RequestRefusal): Record<string, string> {
  return {
    ...(status === 401 && { "www-authenticate": 'Bearer realm="retinue"' }),
    ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }),
  };
}

function composeNotice({ code, message, hint }: RequestRefusal) {
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

/** A page shown instead of the app: a few sentences and perhaps a link. */
type Notice = {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly link?: { href: string; label: string };
  /** Follows the link without a click, as a page of our own would. */
  readonly isOnward?: boolean;
};

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 16px/1.6 system-ui, sans-serif; max-width: 34rem; margin: 18vh auto 0; padding: 0 1.5rem; }
  h1 { font-size: 1.25rem; margin: 0 0 .75rem; }
  code { font: .9em ui-monospace, monospace; padding: .1em .35em; border-radius: .3em; background: #8883; }
`;

/** Writes the page. It needs nothing else: no script, no font, no picture. */
export function noticePage({ title, sentences, link, isOnward }: Notice, nonce: string): string {
  const onward = isOnward && link ? `<meta http-equiv="refresh" content="0;url=${escaped(link.href)}">` : "";
  const way = link ? `<p><a href="${escaped(link.href)}">${escaped(link.label)}</a></p>` : "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">${onward}
<title>${escaped(title)} · Retinue</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${sentences.map((each) => `<p>${withCode(escaped(each))}</p>`).join("\n")}
${way}
</main>
</body>
</html>
`;
}

function withCode(text: string): string {
  return text.replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
