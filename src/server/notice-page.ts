/** A page of our own for whoever cannot get the app: a few sentences and perhaps a way on. */
export type Notice = {
  readonly title: string;
  readonly sentences: readonly string[];
  readonly link?: { href: string; label: string };
  /** Goes on by itself, as a page of our own would. */
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
