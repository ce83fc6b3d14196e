import { visibleText } from '../../text/plain-text.ts';

/** HTML that is safe to put into a page. Only `markup` makes it, and what it is given escapes there and nowhere else. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Content = string | number | Markup | readonly Content[];

/** Own markup around anything else. A string becomes text: of an element, or of an attribute in double quotes. */
export function markup(own: readonly string[], ...others: readonly Content[]): Markup {
  return new Markup(own.map((text, index) => text + shown(others[index] ?? '')).join(''));
}

function shown(content: Content): string {
  if (content instanceof Markup) return content.text;
  return typeof content === 'object' ? content.map(shown).join('') : escaped(String(content));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Characters that are invisible or change the direction of text are shown as their code. */
function escaped(text: string): string {
  return visibleText(text.toWellFormed()).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
