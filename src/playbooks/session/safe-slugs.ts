import { isSlug } from '../../model/slug.ts';
import { DEVICE } from '../../text/file-name.ts';

const LONGEST = 32;
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
      const end = `-${number}`;
      slug = `${stem.slice(0, LONGEST - end.length).replace(/-+$/, '')}${end}`;
    }
    last.set(stem, number);
    taken.add(slug);
    return slug;
  });
}

function isPlain(text: string): boolean {
  return isSlug(text) && !DEVICE.test(text) && !OF_SQUAD.test(text);
}

/** Lower case, accents and other characters removed. */
function slugOf(text: string): string {
  const plain = text
    .slice(0, LONGEST * 4)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^-+/, '');
  const slug = (/^[a-z]/.test(plain) ? plain : `t-${plain}`).slice(0, LONGEST).replace(/-+$/, '');
  return isPlain(slug) ? slug : `t-${slug}`.slice(0, LONGEST);
}
