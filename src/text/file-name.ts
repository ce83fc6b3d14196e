import { cutBytes } from './cut-bytes.ts';

/** Names that Windows reads as devices in every folder, whatever follows the first dot. */
export const DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)/i;
/** File systems allow 255; the rest is for what squad puts before and after a name. */
const MOST_BYTES = 120;
const MOST_ENDING = 16;

/** Any text as the name of a file on every system: letters, digits, `.`, `_` and `-`; it never begins with a dot. */
export function fileName(text: string): string {
  const plain = text
    // The name needs only the ends of a long text, so the rest costs no time.
    .slice(-MOST_BYTES * 8)
    .toWellFormed()
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  const [stem, ending] = splitName(plain === '' ? 'file' : plain);
  const name = `${firstBytes(stem, MOST_BYTES - Buffer.byteLength(ending))}${ending}`;
  return DEVICE.test(name) ? `_${name}` : name;
}

/** A file name for each of these texts, each its own also where upper and lower case are one: the second `a.md` is `a-2.md`. */
export function fileNames(texts: readonly string[]): string[] {
  const name = ownNames([]);
  return texts.map((text) => name(fileName(text)));
}

/** Makes file names unique, one after the other, in a folder that has these names already. */
export function ownNames(taken: readonly string[]): (name: string) => string {
  const names = new Set(taken.map(folded));
  const numbers = new Map<string, number>();
  return (name) => {
    const [stem, ending] = splitName(name);
    let own = name;
    let number = numbers.get(folded(name)) ?? 1;
    while (names.has(folded(own))) {
      number += 1;
      const end = `-${number}${ending}`;
      own = `${firstBytes(stem, MOST_BYTES - Buffer.byteLength(end))}${end}`;
    }
    numbers.set(folded(name), number);
    names.add(folded(own));
    return own;
  };
}

/** Without what does not tell two names apart on every file system. */
function folded(name: string): string {
  return name.normalize('NFKC').toUpperCase().toLowerCase();
}

/** The ending with its dot; empty: there is none, or it is too long to be one. */
function splitName(name: string): [stem: string, ending: string] {
  const dot = name.lastIndexOf('.');
  const ending = dot <= 0 ? '' : name.slice(dot);
  return Buffer.byteLength(ending) > MOST_ENDING ? [name, ''] : [name.slice(0, name.length - ending.length), ending];
}

function firstBytes(text: string, most: number): string {
  return cutBytes(text, most).text.replace(/[.-]+$/, '') || 'file';
}
