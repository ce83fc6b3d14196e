/** A word of a POSIX shell's text. `start` and `end`: its place there. */
export interface ShellWord {
  readonly type: 'word';
  readonly start: number;
  readonly end: number;
  /** The value after the shell's quoting, up to its first variable. */
  readonly value: string;
  /** Names of the variables in it. `~` stands for HOME. */
  readonly variables: readonly string[];
  /** Without quotes, backslashes and variables: it may be a word of the language, such as `if`. */
  readonly isPlain: boolean;
}

export type ShellToken =
  | ShellWord
  /** `&&`, `||`, `|`, `;`, `&`, parentheses, and a newline. */
  | { readonly type: 'operator'; readonly text: string }
  /** The next word is its target. */
  | { readonly type: 'redirection'; readonly text: string };

export type ShellText =
  | { readonly type: 'tokens'; readonly tokens: readonly ShellToken[] }
  /** It has something whose meaning only a shell can know. */
  | { readonly type: 'unreadable'; readonly what: string };

const BLANK = /[ \t]+|\\\n/y;
const COMMENT = /#[^\n]*/y;
const OPERATOR = /&&|\|\||[;&|()\n]/y;
const REDIRECTION = /\d*(?:<<|<&|>&|<>|>>|>\||<|>)/y;
const VARIABLE = /\$(?:([A-Za-z_]\w*|[0-9@*#?$!-])|\{([A-Za-z_]\w*)\})/y;
const PLAIN_CHARACTERS = /[^\s;&|()<>"'\\$`*?[\]~{}#]+/y;
const QUOTED_CHARACTERS = /[^"\\$`]+/y;

/**
 * Reads the words of a shell's text as the shell does, and runs nothing. Takes linear time. `patterns`: whether patterns of file names
 * stay in the words as they are written.
 */
export function readShell(text: string, patterns: 'refused' | 'kept' = 'refused'): ShellText {
  const reader = new Reader(text, patterns);
  try {
    return { type: 'tokens', tokens: reader.tokens() };
  } catch (error) {
    if (error instanceof Unreadable) return { type: 'unreadable', what: error.message };
    throw error;
  }
}

class Unreadable extends Error {}

class Reader {
  readonly #text: string;
  readonly #patterns: 'refused' | 'kept';
  #at = 0;

  constructor(text: string, patterns: 'refused' | 'kept') {
    this.#text = text;
    this.#patterns = patterns;
  }

  tokens(): ShellToken[] {
    const found: ShellToken[] = [];
    while (this.#at < this.#text.length) {
      if (this.#take(BLANK) !== undefined || this.#take(COMMENT) !== undefined) continue;
      const redirection = this.#take(REDIRECTION);
      if (redirection !== undefined) {
        if (redirection.endsWith('<<')) throw new Unreadable('text that follows it (`<<`)');
        found.push({ type: 'redirection', text: redirection });
        continue;
      }
      const operator = this.#take(OPERATOR);
      found.push(operator === undefined ? this.#word() : { type: 'operator', text: operator });
    }
    return found;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const [found] = pattern.exec(this.#text) ?? [];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #word(): ShellWord {
    const start = this.#at;
    const word = { value: '', variables: [] as string[], isPlain: true };
    const add = (text: string): void => {
      if (word.variables.length === 0) word.value += text;
    };
    const variable = (name: string): void => {
      word.variables.push(name);
      word.isPlain = false;
    };
    while (this.#at < this.#text.length) {
      const next = this.#text[this.#at] ?? '';
      if (/[\s;&|()<>]/.test(next)) break;
      if (next === "'" || next === '"' || next === '\\') word.isPlain = false;
      if (next === "'") add(this.#single());
      else if (next === '"') this.#double(add, variable);
      else if (next === '\\') add(this.#escaped());
      else if (next === '$' || next === '`') this.#expansion(add, variable);
      else if (next === '~' && this.#at === start) {
        this.#at += 1;
        variable('HOME');
      } else add(this.#take(PLAIN_CHARACTERS) ?? this.#special(start));
    }
    return { type: 'word', start, end: this.#at, ...word };
  }

  #single(): string {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end < 0) throw new Unreadable('a quote that is not closed');
    const text = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    return text;
  }

  #double(add: (text: string) => void, variable: (name: string) => void): void {
    this.#at += 1;
    for (;;) {
      const next = this.#text[this.#at];
      if (next === undefined) throw new Unreadable('a quote that is not closed');
      if (next === '"') break;
      if (next === '$' || next === '`') this.#expansion(add, variable);
      else if (next === '\\') {
        const after = this.#text[this.#at + 1] ?? '';
        add(after === '\n' ? '' : /[$`"\\]/.test(after) ? after : `\\${after}`);
        this.#at += 2;
      } else add(this.#take(QUOTED_CHARACTERS) ?? '');
    }
    this.#at += 1;
  }

  #escaped(): string {
    const after = this.#text[this.#at + 1];
    if (after === undefined) throw new Unreadable('a backslash at its end');
    this.#at += 2;
    return after === '\n' ? '' : after;
  }

  #expansion(add: (text: string) => void, variable: (name: string) => void): void {
    const [next, after = ''] = this.#text.slice(this.#at, this.#at + 2);
    if (next === '`' || after === '(') throw new Unreadable('the output of another command (`$(…)`)');
    if (/['"]/.test(after) && next === '$') throw new Unreadable("quotes of some shells only (`$'…'`)");
    const found = this.#take(VARIABLE);
    if (found !== undefined) return variable(found.replaceAll(/[${}]/g, '') || '$');
    if (after === '{') throw new Unreadable('a variable that is changed where it is used (`${…}`)');
    this.#at += 1;
    add('$');
  }

  /** A character that means something in some places. */
  #special(start: number): string {
    const next = this.#text[this.#at] ?? '';
    this.#at += 1;
    if (this.#patterns === 'kept') return next;
    const isAlone = this.#at - 1 === start && /^[\s;&|()]?$/.test(this.#text[this.#at] ?? '');
    // `[` is a program, and `{` and `}` group commands.
    if (/[*?]/.test(next) || (next === '[' && !isAlone)) {
      throw new Unreadable('a pattern of file names');
    }
    if (next === '{' && /^[^{}]*(?:,|\.\.)[^{}]*\}/.test(this.#text.slice(this.#at, this.#at + 200))) {
      throw new Unreadable('braces that some shells read as several words');
    }
    return next;
  }
}
