import { isSlug, LONGEST_SLUG, numbered, plainSlug } from '../../model/slug.ts';
import { DEVICE } from '../../text/file-name.ts';

/** A role of such a name would be the coordinator, or look like the router. */
const OF_SQUAD = /^(?:main|router)$/;

/**
 * A safe name for each of these texts, each its own, whatever their length and letters. It follows from the texts and their order
 * alone. Linear in the texts.
 */
export function safeSlugs(texts: readonly string[]): string[] {
  // A text that is safe as it is keeps its own name, whatever stands before it.
  const taken = new Set(texts.filter(isPlain));
  const given = new Set<string>();
  const last = new Map<string, number>();
  return texts.map((text) => {
    if (isPlain(text) && !given.has(text)) {
      given.add(text);
      return text;
    }
    const stem = slugOf(text);
    let slug = stem;
    let number = last.get(stem) ?? 1;
    while (taken.has(slug)) {
      number += 1;
      slug = numbered(stem, number, cut);
    }
    last.set(stem, number);
    taken.add(slug);
    return slug;
  });
}

function isPlain(text: string): boolean {
  return isSlug(text) && !DEVICE.test(text) && !OF_SQUAD.test(text);
}

function slugOf(text: string): string {
  const plain = plainSlug(text.slice(0, LONGEST_SLUG * 4));
  const slug = cut(/^[a-z]/.test(plain) ? plain : `t-${plain}`, LONGEST_SLUG);
  return isPlain(slug) ? slug : `t-${slug}`.slice(0, LONGEST_SLUG);
}

function cut(text: string, most: number): string {
  return text.slice(0, most).replace(/-+$/, '');
}
