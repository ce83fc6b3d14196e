import { asObject, type Json } from '../../text/json.ts';
import { levelOf, parseBlocks } from '../../text/markdown.ts';
import { ANALYSIS_FILE, type Finding, isText, rolePath, shown, STATE_FILE } from './finding.ts';
import type { FileRead } from './folder-read.ts';

/** A heading of a role's file; one in code, a quote or a list is none. */
interface RoleHeading {
  readonly level: number;
  readonly text: string;
  readonly line: number;
}

const HEADER = /^Role:(.*)$/;
const SECTIONS = ['Identity', 'Boundaries', 'Execution'] as const;

/** Limit of an agent's instructions. */
const MOST_BYTES = 64 * 1024;

/** The fields of the roles that are objects with a name, by name; of two with one name, the first. */
export function rolesIn(file: Json): Map<string, Readonly<Record<string, unknown>>> {
  const { roles } = asObject(file);
  const named = new Map<string, Readonly<Record<string, unknown>>>();
  for (const role of Array.isArray(roles) ? roles : []) {
    const fields = asObject(role);
    const { name } = fields;
    if (isText(name) && !named.has(name)) named.set(name, fields);
  }
  return named;
}

/** Each role's file: is it there, with its headings? */
export function roleFileFindings(
  roles: Iterable<string>,
  files: ReadonlyMap<string, FileRead>,
): { readonly required: Finding[]; readonly other: Finding[] } {
  const required: Finding[] = [];
  const other: Finding[] = [];
  for (const name of roles) {
    const file = rolePath(name);
    const read = files.get(file);
    if (read === undefined) {
      required.push({ file, at: 1, message: `Role file not found: ${shown(file)}`, advice: 'resume' });
    } else if ('why' in read) {
      required.push(roleFinding(file, read.line ?? 1, read.why));
    } else if (Buffer.byteLength(read.text) > MOST_BYTES) {
      other.push(roleFinding(file, 1, 'is larger than 64 KiB, the most that an agent’s instructions may have'));
    } else {
      const headings = roleHeadings(read.text);
      required.push(...missingHeadings(file, headings));
      other.push(...otherRole(name, file, headings));
    }
  }
  return { required, other };
}

type Roles = ReturnType<typeof rolesIn>;

const COMPARED = ['prefix', 'responsibility_type', 'inner_loop'] as const;

/** Both files have the roles. They may be in another order, and one may leave out what need not be there. */
export function rolesThatDiffer(state: Roles, analysis: Roles): Finding[] {
  const say = (what: string): Finding => ({
    ...{ file: ANALYSIS_FILE, at: ['roles'], advice: 'correct' },
    message: `Invalid session: roles of ${STATE_FILE} and ${ANALYSIS_FILE} differ: ${what}`,
  });
  const missing = (here: Roles, there: Roles, file: string): Finding[] =>
    [...here.keys()].flatMap((name) => (there.has(name) ? [] : [say(`${shown(name)} is only in ${file}`)]));
  return [
    ...missing(state, analysis, STATE_FILE),
    ...missing(analysis, state, ANALYSIS_FILE),
    ...[...state].flatMap(([name, one]) => {
      const another = analysis.get(name) ?? {};
      const isSaid = (key: string): boolean => typeof one[key] === typeof another[key];
      return COMPARED.flatMap((key) =>
        isSaid(key) && one[key] !== another[key] ? [say(`${key} of ${shown(name)}`)] : [],
      );
    }),
  ];
}

function roleHeadings(text: string): RoleHeading[] {
  const tokens = parseBlocks(text.replace(/^\ufeff/, ''));
  return tokens.flatMap((token, index) =>
    token.type === 'heading_open' && token.level === 0
      ? [{ level: levelOf(token), text: tokens[index + 1]?.content.trim() ?? '', line: (token.map?.[0] ?? 0) + 1 }]
      : [],
  );
}

function roleFinding(file: string, line: number, message: string): Finding {
  return { file, at: line, message: `Invalid role file: ${shown(file)} ${message}`, advice: 'correct' };
}

/** The four headings that the specification requires, in its order. */
function missingHeadings(file: string, headings: readonly RoleHeading[]): Finding[] {
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
function otherRole(name: string, file: string, headings: readonly RoleHeading[]): Finding[] {
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
