import { markup, type Markup } from '../../view/report/markup.ts';

/** A part of a page that is replaced as a whole when it changes. */
export interface Region {
  /** Its element has it. The same for as long as the part is about the same thing. */
  readonly id: string;
  readonly html: Markup;
}

/** A page at one moment. */
export interface Page {
  readonly title: string;
  /** In a sentence: read out when it changes, so it changes only where a person is needed or a run ends. */
  readonly news: string;
  readonly regions: readonly Region[];
}

interface Frame {
  /** From the page to the list of all runs: `./` or `../../`. */
  readonly home: string;
  /** By `series.ts`: the browser has this one; undefined: the page is not live. */
  readonly version: string | undefined;
  /** From the page to its events. */
  readonly events?: string;
}

/** The whole document. It loads one script and one stylesheet from the same server, and nothing else. */
export function documentOf({ title, news, regions }: Page, { home, version, events = 'events' }: Frame): string {
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${home}page.css">
${version === undefined ? '' : markup`<script src="${home}page.js" defer></script>`}
</head>
<body${version === undefined ? '' : markup` data-version="${version}" data-events="${events}"`}>
<header class="top"><a class="skip" href="#main">Skip to the content</a><nav aria-label="squad"><a href="${home}">All runs</a></nav>
<p id="news" role="status">${news}</p></header>
<main id="main" tabindex="-1">${regions.map(({ html }) => html)}</main>
<footer>${
    version === undefined
      ? ''
      : markup`<noscript><p>Without JavaScript this page stays as it is, and takes no answers.</p></noscript>
<p id="live">This page follows the run.</p>`
  }<p>Times are UTC.</p></footer>
<p id="said" role="status" data-own></p>
</body>
</html>
`.text;
}

/** A part with a heading. */
export function regionOf(id: string, title: string, body: Markup | readonly Markup[]): Region {
  return {
    id,
    html: markup`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title" tabindex="-1">${title}</h2>${body}</section>`,
  };
}

/** A list that scrolls, also by the keyboard. `grows`: at its end, and the browser stays there. */
export function scrollingList(label: string, items: readonly Markup[], grows = false): Markup {
  const follow = grows ? markup` data-follow="${label}"` : '';
  return markup`<div class="steps" tabindex="0" role="group" aria-label="${label}"${follow}><ol>${items}</ol></div>`;
}

/** A sentence in place of a page, and what to do next. */
export function problemPage(message: string, next: string, home: string): string {
  const body = markup`<h1>${message}</h1><p>Next: ${next}</p>`;
  const regions = [{ id: 'problem', html: body }];
  return documentOf({ title: message, news: '', regions }, { home, version: undefined });
}

/** An id of an element from a text of others. */
export function idOf(kind: string, text: string): string {
  return `${kind}-${text.replaceAll(/[^\w-]/gu, (one) => `.${one.codePointAt(0)?.toString(16) ?? ''}`)}`;
}
