import { plainText } from '../../text/plain-text.ts';

/** A report without a form: Markdown, a page and a terminal show the same one. */
export interface ReportDocument {
  readonly title: Text;
  /** Outcome, reason and the facts of the whole run. */
  readonly about: readonly Block[];
  readonly sections: readonly Section[];
}

export interface Section {
  readonly title: string;
  readonly blocks: readonly Block[];
}

export type Block =
  | { readonly is: 'heading'; readonly text: Text }
  | { readonly is: 'paragraph'; readonly text: Text }
  | { readonly is: 'list'; readonly items: readonly Text[] }
  | { readonly is: 'table'; readonly head: readonly string[]; readonly rows: readonly (readonly Text[])[] }
  /** Text of others on lines of its own, cut to `most` characters. */
  | { readonly is: 'quote'; readonly text: string; readonly most: number }
  /** Commands to type. Only of squad's own words: slugs, refs and commit ids. */
  | { readonly is: 'commands'; readonly lines: readonly string[] };

/** How a word is coloured. The word itself says as much. */
export type Tone = 'good' | 'bad';

/** Text of one line. A plain string is always text of others, which the renderers escape and cut. */
export type Text = string | Part | readonly Text[];

export type Part =
  /** squad's own words. */
  | { readonly is: 'own'; readonly text: string; readonly tone?: Tone }
  /** Text of others that may be longer or has to be shorter than usual. */
  | { readonly is: 'cut'; readonly text: string; readonly most: number }
  /** Only squad's own plain words: slugs, commit ids, branches, its commands. */
  | { readonly is: 'code'; readonly text: string }
  | { readonly is: 'strong'; readonly text: Text; readonly tone?: Tone };

const MOST_INLINE = 300;
export const MOST_QUOTE = 4_000;

/** squad's own words around text of others. */
export function words(own: readonly string[], ...others: readonly (Text | number)[]): readonly Text[] {
  return own.flatMap((text, index) => {
    const other = others[index];
    const shown = typeof other === 'number' ? ownWords(String(other)) : other;
    return shown === undefined ? [ownWords(text)] : [ownWords(text), shown];
  });
}

export function ownWords(text: string, tone?: Tone): Part {
  return { is: 'own', text, ...(tone === undefined ? {} : { tone }) };
}

export function strong(text: Text, tone?: Tone): Part {
  return { is: 'strong', text, ...(tone === undefined ? {} : { tone }) };
}

export function code(text: string): Extract<Part, { readonly is: 'code' }> {
  return { is: 'code', text: text.replaceAll(/[^\w./:@# -]/g, '') };
}

export function cut(text: string, most: number): Part {
  return { is: 'cut', text, most };
}

export function heading(text: Text): Block {
  return { is: 'heading', text };
}

export function paragraph(text: Text): Block {
  return { is: 'paragraph', text };
}

export function list(items: readonly Text[]): Block {
  return { is: 'list', items };
}

export function table(head: readonly string[], rows: readonly (readonly Text[])[]): Block {
  return { is: 'table', head, rows };
}

export function quote(text: string, most = MOST_QUOTE): Block {
  return { is: 'quote', text, most };
}

export function commands(lines: readonly string[]): Block {
  return { is: 'commands', lines };
}

/** undefined: no blocks. */
export function section(title: string, blocks: readonly Block[]): Section | undefined {
  return blocks.length === 0 ? undefined : { title, blocks };
}

/** undefined: no rows. */
export function tableSection(title: string, ...of: Parameters<typeof table>): Section | undefined {
  return section(title, of[1].length === 0 ? [] : [table(...of)]);
}

/** undefined: no lines. */
export function listSection(title: string, lines: readonly Text[]): Section | undefined {
  return section(title, lines.length === 0 ? [] : [list(lines)]);
}

/** Text of others on one line, without anything that cannot be seen. */
export function oneLine(text: string, most = MOST_INLINE): string {
  const line = plainText(text.slice(0, most * 20).toWellFormed())
    .replaceAll(/\s+/g, ' ')
    .trim();
  return line.length > most ? `${line.slice(0, most - 1).toWellFormed()}…` : line;
}

/** Text of others as it is shown in a quote, and how many characters are missing. */
export function quoteText({ text, most }: { readonly text: string; readonly most: number }): {
  readonly body: string;
  readonly missing: number;
} {
  const all = plainText(text.toWellFormed()).trimEnd();
  return { body: all.slice(0, most).toWellFormed(), missing: Math.max(0, all.length - most) };
}
