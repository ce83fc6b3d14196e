/**
 * What one agent can leave behind so that the engine stumbles over it: shell lines, run in the folder of its task. `done`: its commit
 * is delivered all the same.
 */
export type OddCommit = readonly [what: string, line: string, isDone?: 'done'];

const BLOB = 'B=$(printf evil | git hash-object -w --stdin); ';
const entry = (mode: string, type: string, id: string, name: string): string =>
  `printf '${mode} ${type} %s\\t%b\\n' ${id} '${name}'`;
const file = (name: string): string => entry('100644', 'blob', '$B', name);
const folder = (name: string): string => entry('040000', 'tree', '$T', name);
const DONE = 'C=$(git commit-tree $R -p HEAD -m odd) && git update-ref HEAD $C';
/** A commit of the files of HEAD and these. */
const withTop = (entries: string, before = ''): string =>
  `${BLOB}${before}R=$( (git ls-tree HEAD; ${entries}) | git mktree --missing); ${DONE}`;
const below = (name: string, inside: string): string => withTop(folder(name), `T=$(${file(inside)} | git mktree); `);
const deep = (levels: number): string =>
  withTop(
    folder('deep'),
    `T=$(${file('x')} | git mktree); for i in $(seq ${levels}); do T=$(${folder('ddddd')} | git mktree); done; `,
  );
const byHand = (lines: string): string =>
  `R=$(git rev-parse HEAD^{tree}); printf '${lines}' $R >c; C=$(git hash-object -t commit -w --literally c); rm c; git update-ref HEAD $C`;
const replaced = (by: string): string => `D=$PWD; cd ..; rm -rf "$D"; ${by} "$D"`;
/** A file of its own, which no other task has delivered. */
const work = 'N=$(basename "$PWD").txt; echo a >$N; git add -A; git commit -qm a; ';
const NOWHERE = '1234567890123456789012345678901234567890';

/** Each has ended an engine, or is of the same kind. */
export const ODD_COMMITS: readonly OddCommit[] = [
  ['a name of 300 bytes', withTop(file('n'.repeat(300)))],
  ['a file of 20 GB', `${work}truncate -s 20G hole`, 'done'],
  ['a path of 4,200 bytes', deep(700)],
  ['a path of 9,000 bytes', deep(1500)],
  [
    'a branch that no one finds',
    `${work}git switch -qc mine; git commit -q --allow-empty -m b; git checkout -q HEAD~2`,
  ],
  ['a folder that is gone', 'D=$PWD; cd ..; rm -rf "$D"'],
  ['a file below .git', below('.git', 'config')],
  ['a file below .GIT', below('.GIT', 'config')],
  ['a file below git~1', below('git~1', 'config')],
  ['a file below ..', below('..', 'x')],
  ['a file named .', withTop(file('.'))],
  ['a blob that is missing', withTop(entry('100644', 'blob', NOWHERE, 'missing.txt'))],
  ['a tree that is missing', withTop(entry('040000', 'tree', NOWHERE, 'missing'))],
  [
    'a link of 1 MB',
    `B=$(head -c 1000000 /dev/zero | tr '\\0' l | git hash-object -w --stdin); R=$( (git ls-tree HEAD; ${entry('120000', 'blob', '$B', 'long')}) | git mktree); ${DONE}`,
  ],
  [
    'an empty link',
    `B=$(printf '' | git hash-object -w --stdin); R=$(${entry('120000', 'blob', '$B', 'empty')} | git mktree); ${DONE}`,
  ],
  ['a repository that is nowhere', withTop(entry('160000', 'commit', NOWHERE, 'sub'))],
  ['no parent', 'git update-ref HEAD $(git commit-tree HEAD^{tree} -m orphan)'],
  [
    'a parent that is missing',
    byHand(`tree %s\\nparent ${NOWHERE}\\nauthor a <a@a> 1 +0000\\ncommitter a <a@a> 1 +0000\\n\\nx\\n`),
  ],
  [
    'a year far away and an odd name',
    byHand(
      'tree %s\\nauthor \\033[31mroot\\033[0m <a@a> 99999999999999 +9999\\ncommitter  <> -1 +0000\\nencoding UTF-7\\n\\nx\\n',
    ),
  ],
  [
    'a tag at HEAD',
    'git commit -q --allow-empty -m x; git -c tag.gpgsign=false tag -a -m t t; git rev-parse t >.git/HEAD',
  ],
  ['a tree at HEAD', 'git rev-parse HEAD^{tree} >.git/HEAD'],
  ['a HEAD that is a folder', 'rm .git/HEAD; mkdir .git/HEAD'],
  ['a HEAD that is a pipe', 'rm .git/HEAD; mkfifo .git/HEAD'],
  ['a HEAD on a branch of 3,000 bytes', `${work}printf 'ref: refs/heads/${'y'.repeat(3000)}\\n' >.git/HEAD`],
  ['no .git', 'rm -rf .git'],
  [
    'a damaged object',
    `${work}O=$(git rev-parse HEAD^{tree}); F=.git/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); chmod u+w $F; printf garbage >$F`,
  ],
  [
    'an object of noise',
    `O=.git/objects/aa; mkdir -p $O; head -c 100 /dev/urandom >$O/${'a'.repeat(38)}; echo ${'a'.repeat(40)} >.git/HEAD`,
  ],
  [
    'a pack of noise',
    `mkdir -p .git/objects/pack; for e in pack idx; do head -c 5000 /dev/urandom >.git/objects/pack/pack-${NOWHERE}.$e; done; ${work}`,
  ],
  [
    'grafts, replacements and a commit graph',
    `${work}git rev-parse HEAD >.git/shallow; git replace HEAD HEAD~1; git commit-graph write; true`,
  ],
  [
    'an encoding that fails',
    'echo "* working-tree-encoding=UTF-32BE" >.gitattributes; echo abc >x.txt; git add .gitattributes; git commit -qm x; echo y >y.txt',
  ],
  [
    'ignore rules of 20 MB',
    'seq 1500000 | sed "s/$/*[a-z]**x/" >.gitignore; git add -A; git commit -qm x; echo b >b.txt',
  ],
  [
    'links in a circle',
    'ln -s x y; ln -s y x; ln -s . here; ln -s here/here/here deep; git add -A; git commit -qm links',
  ],
  [
    'a merge of 50 parents',
    'T=$(git rev-parse HEAD^{tree}); P=""; for i in $(seq 50); do P="$P -p $(git commit-tree $T -p HEAD -m $i)"; done; git reset -q --soft $(git commit-tree $T -p HEAD $P -m octopus)',
  ],
  // Its turns are tried again, with a pause each time.
  ['a folder that is a file', replaced('echo x >')],
  ['a folder that is a link', replaced('ln -s /tmp')],
  ['a repository without a HEAD', `${work}git init -q n; echo nonsense >n/.git/HEAD`, 'done'],
  ['a pipe in the place of a file', `${work}rm readme.md; mkfifo readme.md`, 'done'],
  ['a committed file that has grown to 20 GB', `${work}truncate -s 20G $N`, 'done'],
  ['an index of noise', `${work}head -c 5000 /dev/urandom >.git/index`, 'done'],
  ['a log of noise', `${work}head -c 5000000 /dev/urandom >.git/logs/HEAD`, 'done'],
  [
    '3,000 branches',
    `${work}C=$(git rev-parse HEAD); for i in $(seq 3000); do echo $C >.git/refs/heads/b$i; done`,
    'done',
  ],
  [
    'a HEAD on one of 3,000 branches',
    `C=$(git rev-parse HEAD); for i in $(seq 3000); do echo $C >.git/refs/heads/b$i; done; git switch -q b1500; ${work}`,
    'done',
  ],
  [
    'a file and a folder of one name',
    `${BLOB}T=$(${file('x')} | git mktree); R=$(printf '100644 blob %s\\tzz\\n040000 tree %s\\tzz\\n' $B $T | git mktree); ${DONE}`,
  ],
  [
    'a submodule with a command',
    `printf '[submodule "../../x"]\\n\\tpath = sub\\n\\turl = -u./evil\\n\\tupdate = !touch PWN\\n' >.gitmodules; git add .gitmodules; git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; git commit -qm x`,
  ],
  ['attributes of 120 MB', 'yes "a.txt text" | head -c 120000000 >.gitattributes; git add -A; git commit -qm x'],
];
