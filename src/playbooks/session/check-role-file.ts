import { levelOf, parseBlocks } from '../../text/markdown.ts';
import { shown, type Finding } from './finding.ts';

/** A heading of a role's file; one in code, a quote or a list is none. */
export interface RoleHeading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
}

const HEADER = /^Role:(.*)$/;
const SECTIONS = ['Identity', 'Boundaries', 'Execution'] as const;

export function roleHeadings(text: string): RoleHeading[] {
  const tokens = parseBlocks(text.replace(/^\ufeff/, ''));
  return tokens.flatMap((token, index) =>
    token.type === 'heading_open' && token.level === 0
      ? [{ level: levelOf(token), text: tokens[index + 1]?.content.trim() ?? '', line: (token.map?.[0] ?? 0) + 1 }]
      : [],
  );
}

export function roleFinding(file: string, line: number, message: string): Finding {
  return { file, at: line, message: `Invalid role file: ${shown(file)} ${message}`, advice: 'correct' };
}

/** The four headings that the specification requires, in its order. */
export function missingHeadings(file: string, headings: readonly RoleHeading[]): Finding[] {
  const header = headings.findIndex(isHeader);
  const found = header < 0 ? [roleFinding(file, 1, 'missing role header')] : [];
  let from = header + 1;
  for (const section of SECTIONS) {
    const at = headings.findIndex((heading, index) => index >= from && isSection(heading, section));
    if (at >= 0) {
      from = at + 1;
      continue;
    }
    const early = headings.find((heading) => isSection(heading, section));
    const finding = roleFinding(file, early?.line ?? 1, `missing required section: ${section}`);
    found.push(
      early === undefined
        ? finding
        : { ...finding, detail: 'found here, but it must come after the sections before it' },
    );
  }
  return found;
}

/** Says who the file is for, if it is another role. */
export function otherRole(name: string, file: string, headings: readonly RoleHeading[]): Finding[] {
  const header = headings.find(isHeader);
  const named = HEADER.exec(header?.text ?? '')?.[1];
  if (header === undefined || named === undefined || folded(named) === folded(name)) return [];
  const what = named.trim() === '' ? 'names no role' : `names another role: ${shown(named.trim())}`;
  return [roleFinding(file, header.line, `has a role header that ${what}`)];
}

function isHeader({ level, text }: RoleHeading): boolean {
  return level === 1 && HEADER.test(text);
}

/** `## Execution (5-Phase)` is the section Execution. */
function isSection({ level, text }: RoleHeading, section: string): boolean {
  return level === 2 && text.startsWith(section) && !/^[\p{L}\p{N}_-]/u.test(text.slice(section.length));
}

/** A title may write a name in its own way: `Spec Writer` is `spec-writer`. */
function folded(name: string): string {
  return name
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[`*]/g, '')
    .trim()
    .replaceAll(/[\s_-]+/g, '-');
}
