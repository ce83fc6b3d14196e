import { randomUUID } from 'node:crypto';
import type { Page } from './page.ts';

/** The versions of a page. A browser that missed some gets each part that is newer than what it has. */
export class Series {
  readonly #name = randomUUID().slice(0, 8);
  readonly #parts = new Map<string, { readonly text: string; readonly version: number }>();
  #version = 0;
  #page: Page = { title: '', news: '', regions: [] };

  /** The message for browsers that have the version before; undefined: the page is the same. */
  take(next: Page): string | undefined {
    const before = this.#page;
    const version = this.#version + 1;
    let isNew = before.title !== next.title || before.news !== next.news;
    isNew ||= idsOf(before) !== idsOf(next);
    for (const { id, html } of next.regions) {
      if (this.#parts.get(id)?.text === html.text) continue;
      this.#parts.set(id, { text: html.text, version });
      isNew = true;
    }
    this.#page = next;
    if (!isNew) return undefined;
    this.#version = version;
    return this.#messageOf(version - 1);
  }

  current(): { readonly page: Page; readonly version: string } {
    return { page: this.#page, version: `${this.#name}.${this.#version}` };
  }

  /** The message for a browser that has this version, of this series or of another one. */
  after(since: string): string {
    const [name, version = ''] = since.split('.');
    return this.#messageOf(name === this.#name && /^\d{1,15}$/.test(version) ? Number(version) : 0);
  }

  #messageOf(since: number): string {
    const { title, news, regions } = this.#page;
    const changed = regions.flatMap(({ id }) => {
      const part = this.#parts.get(id);
      return part === undefined || part.version <= since ? [] : [[id, part.text] as const];
    });
    const data = { title, news, order: regions.map(({ id }) => id), regions: Object.fromEntries(changed) };
    return `id: ${this.#name}.${this.#version}\nevent: page\ndata: ${JSON.stringify(data)}\n\n`;
  }
}

function idsOf({ regions }: Page): string {
  return regions.map(({ id }) => id).join(' ');
}
