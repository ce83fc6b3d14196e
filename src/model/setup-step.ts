import { z } from 'zod';
import { minutesSchema } from './limits.ts';
import { commandSchema, slugSchema, variableSchema } from './settings-text.ts';

/** Names of variables of the person's environment; their values are never written down. */
export const variablesSchema = z.array(variableSchema).max(100);

export const stepSchema = z.strictObject({
  run: commandSchema,
  minutes: minutesSchema.default(10),
  /** Variables of this command alone. */
  env: variablesSchema.optional(),
});

/** In a name of a path, `*` stands for any text. */
const MOST_STARS = 3;

function isPlainPath(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- these are meant
  if (/[\u0000-\u001F\u007F\\]/.test(text)) return false;
  return partsOf(text).every(
    (part) => !['', '.', '..'].includes(part) && part.split('*').length <= MOST_STARS + 1 && !part.includes('**'),
  );
}

function partsOf(text: string): string[] {
  return text.replace(/\/$/, '').split('/');
}

const pathSchema = z
  .string()
  .min(1)
  .max(255)
  .refine(isPlainPath, 'is no path below the repository’s root, such as node_modules or packages/*/node_modules')
  .refine((text) => !partsOf(text).some((part) => /^(?:\.git|git~1)$/i.test(part)), 'is in the git directory');

const pathsSchema = z.union([pathSchema, z.array(pathSchema).min(1).max(50)]);
type Paths = z.infer<typeof pathsSchema>;

const setupStepSchema = stepSchema.extend({
  /** Folders that it makes, which are kept and given to the next folder whose `when` files are the same. */
  reuse: pathsSchema.optional(),
  /** Tracked files on which they depend. */
  when: pathsSchema.optional(),
  /** Roles of agents with `access: read-only` that need it too. */
  for: z.array(slugSchema).min(1).max(20).optional(),
});
export type SetupStep = z.infer<typeof setupStepSchema>;

export const setupSchema = z.array(setupStepSchema).max(50).superRefine(checkReuse);

/** Without the slash at the end of a folder's path. */
export function pathsOf(paths: Paths = []): readonly string[] {
  return [paths].flat().map((path) => partsOf(path).join('/'));
}

function checkReuse(steps: readonly SetupStep[], context: z.RefinementCtx<readonly SetupStep[]>): void {
  const known: string[] = [];
  for (const [index, { run, reuse, when }] of steps.entries()) {
    const add = (key: 'reuse' | 'when' | 'run', message: string): void =>
      context.addIssue({ code: 'custom', path: [index, key], message });
    if (reuse !== undefined && when === undefined) add('reuse', 'needs `when`: the files on which it depends');
    if (reuse === undefined && when !== undefined) add('when', 'needs `reuse`: the folders that the command makes');
    if (reuse !== undefined && run.includes('{port}'))
      add('run', 'has another {port} in each folder: take `reuse` out');
    for (const path of pathsOf(reuse)) {
      const other = known.find((one) => isSamePlace(one, path));
      if (other !== undefined) add('reuse', clash(path, other));
      known.push(path);
    }
  }
}

function clash(path: string, other: string): string {
  if (path === other) return `names ${path} twice: each folder is made by one command`;
  const isCase = folded(path) === folded(other);
  return isCase
    ? `names ${path} and ${other}, which are one folder where upper and lower case are the same`
    : `names ${path} and ${other}, of which one is in the other`;
}

function isSamePlace(one: string, other: string): boolean {
  const [a, b] = [`${folded(one)}/`, `${folded(other)}/`];
  return a.startsWith(b) || b.startsWith(a);
}

/** As a file system without upper and lower case compares names. */
export function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Whether a name is one that this part of a path stands for. */
export function isNameOf(part: string, name: string): boolean {
  const texts = part.split('*');
  if (texts.length === 1) return part === name;
  const [first = '', ...rest] = texts;
  const last = rest.pop() ?? '';
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const text of rest) {
    at = name.indexOf(text, at);
    if (at === -1) return false;
    at += text.length;
  }
  return at <= name.length - last.length;
}
