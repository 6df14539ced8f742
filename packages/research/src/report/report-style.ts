/** How a report looks: on a screen, light and dark, on a phone, and on paper. Nothing is loaded from anywhere. */
export const REPORT_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --raised: #ffffff; --sunken: #f2f0ea; --ink: #1c1b19; --quiet: #5f5b54; --line: #dedad1;
  --accent: #0f5e59; --accent-soft: #e3efed; --accent-line: #9cc4bf; --warn: #8a4b0f; --warn-soft: #fbf0e2; --warn-line: #e3c29b;
  --serif: "Source Serif 4", "Source Serif Pro", Charter, "Bitstream Charter", "Iowan Old Style", "Palatino Linotype", "Noto Serif", Georgia, "Liberation Serif", serif;
  --sans: Inter, "Segoe UI", system-ui, -apple-system, Roboto, "Noto Sans", "Liberation Sans", "Helvetica Neue", Arial, sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #141615; --raised: #1c1f1e; --sunken: #282d2c; --ink: #e9e7e2; --quiet: #a5a29a; --line: #33383a;
    --accent: #7fd0c7; --accent-soft: #17302d; --accent-line: #2f615b; --warn: #f0b775; --warn-soft: #2b2116; --warn-line: #5c452a;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1.5rem; -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1.0625rem/1.68 var(--serif); text-rendering: optimizeLegibility; overflow-wrap: break-word; }
a { color: var(--accent); text-decoration-thickness: .07em; text-underline-offset: .18em; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 1rem; top: 1rem; background: var(--raised); padding: .5rem 1rem; z-index: 2; }
.page { max-width: 72rem; margin: 0 auto; padding: clamp(1.5rem, 5vw, 4.5rem) clamp(1.1rem, 4vw, 3rem) 4rem; }
header.top { border-bottom: 1px solid var(--line); padding-bottom: clamp(1.6rem, 4vw, 2.6rem); margin-bottom: clamp(1.6rem, 4vw, 2.6rem); }
.kicker, .label, nav.contents, .meta, figcaption, .voice, .back, .source-more, table, .count, .chip { font-family: var(--sans); }
.kicker { margin: 0 0 .9rem; font-size: .78rem; font-weight: 650; letter-spacing: .11em; text-transform: uppercase; color: var(--accent); }
h1 { margin: 0; max-width: 20ch; font-size: clamp(2.05rem, 1.3rem + 3.4vw, 3.5rem); line-height: 1.08; font-weight: 640; letter-spacing: -.018em; text-wrap: balance; }
h1.long { max-width: 30ch; font-size: clamp(1.7rem, 1.2rem + 2.1vw, 2.6rem); line-height: 1.15; }
.request { margin: 1.1rem 0 0; max-width: 46rem; color: var(--quiet); font-size: 1.12rem; font-style: italic; }
.meta { display: flex; flex-wrap: wrap; gap: .35rem 1.5rem; margin: 1.5rem 0 0; padding: 0; list-style: none; font-size: .88rem; color: var(--quiet); }
.meta strong { color: var(--ink); font-weight: 600; font-variant-numeric: tabular-nums; }
.chip { display: inline-block; padding: .1rem .6rem; border: 1px solid var(--accent-line); border-radius: 99px; background: var(--accent-soft); color: var(--accent); font-size: .8rem; font-weight: 600; }
.columns { display: grid; gap: 0 clamp(2rem, 5vw, 4rem); }
@media (min-width: 62rem) {
  .columns { grid-template-columns: 13rem minmax(0, 1fr); }
  nav.contents { position: sticky; top: 2rem; align-self: start; max-height: calc(100vh - 4rem); overflow: auto; }
}
nav.contents { font-size: .88rem; line-height: 1.4; margin-bottom: 2rem; }
nav.contents h2 { margin: 0 0 .6rem; font: 650 .75rem var(--sans); letter-spacing: .09em; text-transform: uppercase; color: var(--quiet); }
nav.contents ol { margin: 0; padding: 0; list-style: none; border-left: 1px solid var(--line); }
nav.contents ol ol { border: 0; }
nav.contents a { display: block; padding: .28rem 0 .28rem 1rem; margin-left: -1px; border-left: 2px solid transparent; color: var(--quiet); text-decoration: none; }
nav.contents ol ol a { padding-left: 1.9rem; font-size: .84rem; }
nav.contents a:hover { color: var(--accent); border-left-color: var(--accent); }
@media (max-width: 61.99rem) {
  nav.contents ol ol { display: none; }
  nav.contents > ol { display: flex; flex-wrap: wrap; gap: .45rem; border: 0; }
  nav.contents > ol > li > a { margin: 0; padding: .25rem .8rem; border: 1px solid var(--line); border-radius: 99px; }
}
main > section { margin-bottom: clamp(2.6rem, 6vw, 4rem); }
main p, main li { max-width: 44rem; }
h2 { margin: 0 0 1.1rem; font-size: 1.62rem; line-height: 1.22; font-weight: 640; letter-spacing: -.01em; text-wrap: balance; }
h3 { margin: 2.4rem 0 .7rem; font-size: 1.22rem; line-height: 1.3; font-weight: 640; text-wrap: balance; }
h3 .number { margin-right: .55rem; color: var(--accent); font-family: var(--sans); font-size: .88em; font-weight: 600; font-variant-numeric: tabular-nums; }
p { margin: 0 0 1.05rem; hanging-punctuation: first; }
.count { margin: -.35rem 0 .9rem; font-size: .82rem; color: var(--quiet); }
.summary { background: var(--raised); border: 1px solid var(--line); border-top: 3px solid var(--accent); border-radius: 4px 4px 10px 10px; padding: clamp(1.3rem, 3vw, 2.1rem); }
.summary ul { margin: 0; padding: 0; list-style: none; }
.summary li { position: relative; padding-left: 1.5rem; margin-bottom: .95rem; max-width: 48rem; font-size: 1.09rem; line-height: 1.6; }
.summary li:last-child { margin-bottom: 0; }
.summary li::before { content: ""; position: absolute; left: .1rem; top: .66em; width: .5rem; height: .5rem; border-radius: 2px; background: var(--accent); transform: rotate(45deg); }
.cite { font: 600 .7em var(--sans); vertical-align: .28em; line-height: 0; white-space: nowrap; }
.cite a { padding: .1em .18em; text-decoration: none; }
.cite a:hover, .cite a:target { background: var(--accent-soft); border-radius: 3px; }
.also { font: .78em var(--sans); color: var(--quiet); white-space: nowrap; }
.also a { text-decoration: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15.5rem), 1fr)); gap: 1rem; margin: 0; padding: 0; list-style: none; }
.card { display: flex; flex-direction: column; background: var(--raised); border: 1px solid var(--line); border-radius: 10px; padding: 1.15rem 1.25rem 1.2rem; }
.card .value { margin: 0 0 .5rem; font: 640 1.85rem/1.12 var(--sans); letter-spacing: -.022em; color: var(--accent); font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.card .value.long { font-size: 1.3rem; line-height: 1.25; }
.card p { margin: 0; font-size: .94rem; line-height: 1.52; }
.card mark { background: none; color: inherit; font-weight: 700; white-space: nowrap; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); gap: 1rem; margin-top: 1rem; }
figure { margin: 0; }
.charts figure { background: var(--raised); border: 1px solid var(--line); border-radius: 10px; padding: 1.2rem 1.3rem; }
figcaption { margin-bottom: .9rem; font-size: .92rem; font-weight: 600; line-height: 1.4; }
.chart { display: block; width: 100%; height: auto; max-width: 26rem; }
.bar { fill: var(--accent); }
.bar-rail { fill: var(--sunken); }
.bar-label { font: 13px var(--sans); fill: var(--quiet); }
.bar-value { font: 600 13px var(--sans); fill: var(--ink); }
.quotes { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: 1.6rem 2.2rem; }
blockquote { margin: 0; padding-left: 1.2rem; border-left: 3px solid var(--accent); }
blockquote p { margin: 0 0 .6rem; font-size: 1.12rem; line-height: 1.55; font-style: italic; text-wrap: pretty; }
.voice { font-size: .86rem; line-height: 1.45; color: var(--quiet); }
.voice strong { color: var(--ink); font-weight: 600; }
.conflict { margin-bottom: 1.2rem; border: 1px solid var(--warn-line); border-radius: 10px; background: var(--warn-soft); padding: 1.2rem 1.35rem 1.3rem; }
.conflict h3 { margin: 0 0 .25rem; color: var(--warn); }
.conflict .note { font: .86rem/1.5 var(--sans); color: var(--quiet); margin-bottom: .9rem; max-width: none; }
.claims { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 17rem), 1fr)); gap: .9rem; margin: 0; padding: 0; list-style: none; }
.claims li { background: var(--raised); border-radius: 7px; border: 1px solid var(--line); padding: .85rem 1rem; font-size: .96rem; line-height: 1.55; max-width: none; }
.claims .voice { display: block; margin-top: .45rem; }
.method { color: var(--quiet); font-size: .98rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .89rem; line-height: 1.45; }
caption { text-align: left; padding-bottom: .5rem; color: var(--quiet); }
th, td { text-align: left; vertical-align: top; padding: .55rem .9rem .55rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; color: var(--quiet); font-size: .8rem; }
td:first-child { min-width: 12rem; }
.sources { margin: 0; padding: 0; list-style: none; counter-reset: source; }
.sources li { counter-increment: source; position: relative; padding: .75rem .8rem .75rem 3rem; border-top: 1px solid var(--line); max-width: none; line-height: 1.45; border-radius: 4px; }
.sources li::before { content: counter(source); position: absolute; left: .6rem; top: .82rem; font: 600 .86rem var(--sans); color: var(--accent); font-variant-numeric: tabular-nums; }
.sources li:target { background: var(--accent-soft); }
.source-title { font-weight: 600; }
.source-more { display: block; font-size: .84rem; color: var(--quiet); overflow-wrap: anywhere; }
.back { font-size: .8rem; color: var(--quiet); }
.back a { display: inline-block; padding: 0 .16rem; text-decoration: none; }
footer { margin-top: 3rem; padding-top: 1.2rem; border-top: 1px solid var(--line); font: .82rem var(--sans); color: var(--quiet); }
@media print {
  @page { margin: 18mm 17mm 20mm; }
  :root { color-scheme: light; --paper: #fff; --raised: #fff; --sunken: #eee; --ink: #000; --quiet: #444; --line: #bbb; --accent: #0b4f4a; --accent-soft: #fff; --accent-line: #888; --warn: #6b3a0b; --warn-soft: #fff; --warn-line: #999; }
  body { font-size: 10.5pt; line-height: 1.5; background: #fff; }
  .page { max-width: none; padding: 0; }
  .columns { display: block; }
  nav.contents, .skip, .back { display: none; }
  h1 { font-size: 25pt; } h2 { font-size: 15pt; } h3 { font-size: 12pt; }
  h2, h3, figcaption, .count { break-after: avoid; }
  .card, .conflict, blockquote, .charts figure, .sources li, tr { break-inside: avoid; }
  main > section { margin-bottom: 9mm; }
  .cards { grid-template-columns: repeat(3, 1fr); gap: 3mm; } .card { padding: 3.5mm; } .card .value { font-size: 15pt; } .card p { font-size: 9pt; }
  .charts { grid-template-columns: 1fr 1fr; gap: 3mm; } .quotes, .claims { grid-template-columns: 1fr 1fr; }
  p, li { orphans: 3; widows: 3; }
  .bar, .bar-rail, .summary li::before { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  a { color: inherit; text-decoration: none; }
  .sources a[href^="http"]::after { content: " (" attr(href) ")"; font-weight: 400; font-size: 8.5pt; overflow-wrap: anywhere; }
}
`;
