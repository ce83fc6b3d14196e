import { dirname } from 'node:path';
import { isWithin } from '../../substrate/system/files/confine.ts';
import { layersOf, tryParts, type Cage, type Layer } from './cage.ts';
import type { Trial } from './cli-program.ts';

/** The sandbox of macOS. Not yet tried on a Mac. */
export interface Seatbelt {
  readonly kind: 'seatbelt';
  /** Rules that this machine knows besides those that a cage cannot do without. */
  readonly rules: readonly string[];
}

/** Never one that PATH names. */
const SANDBOX_EXEC = '/usr/bin/sandbox-exec';

/** Ways around the cage: programs that start others on request, and the processes and environments of others. */
const MORE_RULES = [
  '(deny appleevent-send)',
  '(deny lsopen)',
  '(deny job-creation)',
  '(deny signal) (allow signal (target same-sandbox))',
  '(deny process-info*) (allow process-info* (target same-sandbox))',
];

/** After a trial with the real rules. */
export async function findSeatbelt(trial: Trial): Promise<Seatbelt | { readonly problem: string }> {
  const tried = await tryParts(MORE_RULES, async (rules) => {
    const cage = { writable: [], hidden: [], cwd: '/' };
    const { binary, args } = inSeatbelt({ kind: 'seatbelt', rules }, cage, '/usr/bin/true', []);
    return trial(binary, args, { kind: 'cage-trial' });
  });
  return 'problem' in tried ? tried : { kind: 'seatbelt', rules: tried.parts };
}

/** sandbox-exec becomes the program, which so gets the signals of its group itself. */
const IN_FOLDER = 'cd "$1" || exit 1; shift; exec "$@"';

export function inSeatbelt(
  { rules }: Pick<Seatbelt, 'kind' | 'rules'>,
  cage: Cage,
  program: string,
  args: readonly string[],
): { readonly binary: string; readonly args: string[] } {
  const { text, paths } = profileOf(cage, rules);
  const named = paths.map((path, index) => `-DP${index}=${path}`);
  const words = [SANDBOX_EXEC, '-p', text, ...named, program, ...args];
  return { binary: '/bin/sh', args: ['-c', IN_FOLDER, 'sh', cage.cwd, ...words] };
}

/** Device files that every program may use; a terminal only if the agent itself opened it. A second name would make a file writable. */
const BASE = `(version 1)
(allow default)
(deny file-write* file-link)
(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/ptmx") (subpath "/dev/fd"))
(allow file-write* (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))`;

/** The cage as a profile, in which the last rule that fits decides. It names paths by number, so that none of them can add a rule. */
export function profileOf(
  cage: Cage,
  rules: readonly string[],
): { readonly text: string; readonly paths: readonly string[] } {
  const { kept = [], masked = [], network = true } = cage;
  const paths: string[] = [];
  const at = (path: string): string => {
    const known = paths.indexOf(withoutLink(path));
    return `(param "P${known < 0 ? paths.push(withoutLink(path)) - 1 : known}")`;
  };
  const layers = layersOf(cage);
  const text = [
    BASE,
    ...rules,
    ...(network ? [] : ['(deny network*)']),
    ...layers.map((layer) => ruleOf(layer, at)),
    ...waysTo(layers).map((path) => `(allow file-read-metadata (literal ${at(path)}))`),
    ...kept.map((path) => `(deny file-write* (subpath ${at(path)}))`),
    ...masked.map((path) => `(deny file-read* file-write* (literal ${at(path)}))`),
    ...fixedIn(layers, [...kept, ...masked]).map((path) => `(deny file-write-unlink (literal ${at(path)}))`),
  ];
  return { text: `${text.join('\n')}\n`, paths };
}

function ruleOf({ path, does }: Layer, at: (path: string) => string): string {
  const below = `(subpath ${at(path)})`;
  switch (does) {
    case 'open':
      return `(allow file-read* file-write* ${below})`;
    case 'show':
      // A read-only mount lets a program write into a pipe, and by one it reaches its servers.
      return `(allow file-read* ${below}) (deny file-write* ${below}) (allow file-write-data (require-all ${below} (vnode-type FIFO)))`;
    default:
      return `(deny file-read* file-write* ${below})`;
  }
}

/** Folders in hidden places by which a program gets to what it may see. It cannot list them. */
function waysTo(layers: readonly Layer[]): readonly string[] {
  const isHiding = ({ does }: Layer): boolean => does === 'hide-folder';
  const ways = layers.filter((layer) => !isHiding(layer)).flatMap(({ path }) => above(path));
  return [...new Set(ways)].filter((way) => {
    const decides = layers.findLast(({ path }) => isWithin(path, way));
    return decides !== undefined && isHiding(decides);
  });
}

/** Folders that an agent may write and not move: with them it would move what it may not change. */
function fixedIn(layers: readonly Layer[], more: readonly string[]): readonly string[] {
  const open = layers.filter(({ does }) => does === 'open').map(({ path }) => path);
  const shut = [...layers.filter(({ does }) => does !== 'open').map(({ path }) => path), ...more];
  return [...new Set(shut.flatMap((path) => above(path)))].filter((way) => open.some((path) => isWithin(path, way)));
}

/** The folders above it, without the root. */
function above(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path || folder === '/' ? [] : [...above(folder), folder];
}

/** macOS has these folders as links, and a rule with a link's name fits nothing. */
function withoutLink(path: string): string {
  return /^\/(?:tmp|var|etc)(?:\/|$)/.test(path) ? `/private${path}` : path;
}
