import type { OddCommit } from './odd-commits.ts';
import { createRandom } from './random.ts';

const NAMES = [
  ...[
    '.git',
    '.GIT',
    '.git ',
    '.git.',
    '.g\u200cit',
    'git~1',
    '.git::$INDEX_ALLOCATION',
    '.gitmodules',
    '.gitattributes',
  ],
  ...[
    '..',
    '.',
    '',
    'a/b',
    '/',
    'a//b',
    'CON',
    'a\\b',
    '-rf',
    '--',
    'a\nb',
    '\u0001',
    '\u00ff',
    'x ',
    '*',
    ':(glob)',
    '.squad',
  ],
  ...[
    'n'.repeat(255),
    'n'.repeat(256),
    'n'.repeat(5000),
    'readme.md',
    'README.MD',
    'e\u0301',
    '\u00e9',
    '\ud800',
    'HEAD',
    'refs',
  ],
];
const MODES = ['100644', '100755', '120000', '40000', '160000', '100664', '0', '777777', '170000', '0100644', ''];
const NOWHERE = '1234567890123456789012345678901234567890';

/** A commit of random entries of a tree and random headers, as git stores them unasked and no one else would make them. */
export function randomCommit(seed: number): OddCommit {
  const random = createRandom(seed);
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const entries = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
    name: pick(NAMES),
    mode: pick(MODES),
    to: pick(['$B', '$B', '$T', '$H', NOWHERE]),
  }));
  const parents = pick([['$H'], ['$H'], ['$H'], [], ['$H', '$H'], [NOWHERE], ['$T']]);
  const author = pick(['a <a@a> 1 +0000', 'a', '<> -1 +9999', `${'n'.repeat(3000)} <a> 99999999999 +0000`]);
  const more = pick(['', 'encoding UTF-7\n', 'gpgsig x\n y\n', `mergetag ${'m'.repeat(2000)}\n`]);
  const start = pick(['git cat-file tree $H^{tree}; ', 'git cat-file tree $H^{tree}; ', '']);
  const line = [
    'H=$(git rev-parse HEAD)',
    'B=$(printf evil | git hash-object -w --stdin)',
    String.raw`T=$(printf '100644 blob %s\tx\n' $B | git mktree)`,
    // The bytes of an id, in octal for printf.
    String.raw`raw() { printf "$(printf '%s' "$1" | sed 's/../& /g' | tr ' ' '\n' | sed '/^$/d' | while read h; do printf '\\%03o' "0x$h"; done)"; }`,
    `R=$({ ${start}${entries.map(({ name, mode, to }) => `printf '${octal(`${mode} ${name}\0`)}'; raw ${to}; `).join('')}} | git hash-object -t tree -w --literally --stdin)`,
    `C=$({ printf 'tree %s\\n' $R; ${parents.map((id) => `printf 'parent %s\\n' ${id}; `).join('')}printf '${octal(`author ${author}\ncommitter ${author}\n${more}\nodd\n`)}'; } | git hash-object -t commit -w --literally --stdin)`,
    'echo $C >.git/HEAD',
  ].join('; ');
  const what = entries.map(({ mode, name, to }) => `${mode} ${JSON.stringify(name.slice(0, 20))} ${to}`);
  return [`seed ${seed}: ${what.join(', ')}, parents ${parents.join(' ')}`, line];
}

function octal(text: string): string {
  return [...Buffer.from(text)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`).join('');
}
