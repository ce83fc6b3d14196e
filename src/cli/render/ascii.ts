/** Signs of squad and of what it quotes, each in one column. */
const SIGNS: Readonly<Record<string, string>> = {
  ...{ '✓': 'v', '✗': 'x', '◉': '*', '●': '@', '○': 'o', '◐': '%', '‖': '|', '■': '#', '↻': '~' },
  ...{ '·': '.', '…': '~', '─': '-', '–': '-', '—': '-', '→': '>', '↑': '^', '↓': 'v', '≥': '>' },
  ...{ '“': '"', '”': '"', '‘': "'", '’': "'" },
};
const OTHERS = /[^\u0000-\u007f]/gu;
const COMBINING = /\p{M}|\p{Cf}/u;
/** From here on, most characters are two columns wide. */
const WIDE = 0x1100;

/** Keeps the columns of the text, for a terminal that shows nothing but ASCII. */
export function asciiText(text: string): string {
  return text.replaceAll(OTHERS, (character) => SIGNS[character] ?? substitute(character));
}

function substitute(character: string): string {
  if (COMBINING.test(character)) return '';
  const code = character.codePointAt(0) ?? 0;
  const isWide = code >= WIDE && !(code >= 0x2000 && code < 0x2e80);
  return isWide ? '??' : '?';
}

/** Whether this locale names another set of characters than UTF-8. No locale says nothing about the terminal. */
export function isAsciiOnly(locale: string | undefined): boolean {
  return /^(?:C|POSIX)$|\.(?!utf-?8\b)/i.test(locale ?? '');
}

/** The locale that programs use for characters. */
export function localeOf(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const named = ['LC_ALL', 'LC_CTYPE', 'LANG'].map((name) => environment[name]);
  return named.find((value) => value !== undefined && value !== '');
}
