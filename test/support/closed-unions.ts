/** One union whose members a tag tells apart. */
export interface ClosedUnion {
  readonly name: string;
  /** The property that holds the tag. */
  readonly key: string;
  readonly tags: readonly string[];
  /** The file that defines it. Nothing in it counts. */
  readonly file: string;
  /** Only a file that contains one of these words counts: the same tag may belong to another union elsewhere. */
  readonly words: RegExp;
  /** Each member is passed on as it is, so a `case` that does nothing with it counts too. */
  readonly passedOn?: boolean;
}

export interface Source {
  readonly name: string;
  readonly text: string;
}

/** What is wrong with the tags of a union: one sentence for each tag that no file produces, or that no file acts on. */
export function unusedTags(union: ClosedUnion, sources: readonly Source[]): string[] {
  const code = sources
    .filter(({ name, text }) => name !== union.file && union.words.test(text))
    .map(({ text }) => withoutTypes(text));
  return union.tags.flatMap((tag) => [
    ...(code.some((text) => produces(text, union.key, tag)) ? [] : [`${union.name} ${tag}: nothing produces it`]),
    ...(code.some((text) => actsOn(text, tag, union.passedOn === true))
      ? []
      : [`${union.name} ${tag}: nothing acts on it`]),
  ]);
}

/** The tags of a definition: `key: 'tag'` of a type or `key: z.literal('tag')` of a schema, in the text between two marks. */
export function tagsIn(text: string, key: string, from = '', to = ''): string[] {
  const start = text.indexOf(from);
  const end = to === '' ? text.length : text.indexOf(to, start);
  if (start < 0 || end < 0) throw new Error(`${from} … ${to} is not in the text`);
  const literal = new RegExp(String.raw`\b${key}: (?:z\.literal\()?'([^']+)'`, 'g');
  return [...new Set([...text.slice(start, end).matchAll(literal)].flatMap(([, tag]) => tag ?? []))];
}

/** Without comments, and without tags that only pick a member of a type. */
function withoutTypes(text: string): string {
  return text
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1')
    .replaceAll(/\bExtract<[^>]*>/g, '')
    .replaceAll(/\breadonly \w+: (?:[^;{}]|\{[^{}]*\})*;/g, '');
}

/** The tag is the value of the key in an object, also as one side of a condition. */
function produces(text: string, key: string, tag: string): boolean {
  const values = text.matchAll(new RegExp(String.raw`\b${key}(?:: |\s*=\s*)([^;{}[\]]*?)(?=,|\}|;|\n\s*\})`, 'g'));
  return [...values].some(([, value = '']) => new RegExp(String.raw`(?:^|[?:] )'${tag}'`).test(value));
}

/** A comparison with the tag, a table with an entry for it, or a `case` that does more than to leave the switch. */
function actsOn(text: string, tag: string, passedOn: boolean): boolean {
  if (new RegExp(String.raw`[!=]== '${tag}'`).test(text)) return true;
  if (new RegExp(String.raw`^\s*(?:'${tag}'|${tag}): (?!z\.)`, 'm').test(text)) return true;
  const cases = text.split(new RegExp(String.raw`\bcase '${tag}':`)).slice(1);
  return cases.some((rest) => {
    const body = rest.replace(/^(?:\s*case [^:]+:|\s*default:)*/, '').trimStart();
    return passedOn || !/^(?:break|return(?: undefined| null| \[\]| '')?);/.test(body);
  });
}
