import { asObject, type Json } from '../../text/json.ts';
import type { FileRead } from './folder-read.ts';
import { missingHeadings, otherRole, roleFinding, roleHeadings } from './check-role-file.ts';
import { isText, rolePath, shown, STATE_FILE, ANALYSIS_FILE, type Finding } from './finding.ts';

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
