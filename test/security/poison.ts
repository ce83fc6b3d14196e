import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { git } from '../support/git.ts';

/** Keys of git's configuration that name a program; `PROGRAM` stands for one that leaves a mark. */
export const KEYS: readonly (readonly [string, string])[] = [
  ['core.fsmonitor', 'PROGRAM'],
  ['core.hooksPath', 'HOOKS'],
  ['core.pager', 'PROGRAM'],
  ['pager.log', 'PROGRAM'],
  ['core.editor', 'PROGRAM'],
  ['sequence.editor', 'PROGRAM'],
  ['core.sshCommand', 'PROGRAM'],
  ['core.askPass', 'PROGRAM'],
  ['core.gitProxy', 'PROGRAM'],
  ['core.alternateRefsCommand', 'PROGRAM'],
  ['credential.helper', '!PROGRAM'],
  ['diff.external', 'PROGRAM'],
  ['diff.evil.command', 'PROGRAM'],
  ['diff.evil.textconv', 'PROGRAM'],
  ['filter.evil.clean', 'PROGRAM'],
  ['filter.evil.smudge', 'PROGRAM'],
  ['filter.evil.process', 'PROGRAM'],
  ['filter.plain.clean', 'PROGRAM'],
  ['filter.plain.smudge', 'PROGRAM'],
  ['merge.evil.driver', 'PROGRAM %O %A %B'],
  ['gpg.program', 'PROGRAM'],
  ['gpg.ssh.program', 'PROGRAM'],
  ['commit.gpgsign', 'true'],
  ['trailer.evil.cmd', 'PROGRAM'],
  ['alias.status', '!PROGRAM'],
  ['uploadpack.packObjectsHook', 'PROGRAM'],
  ['gc.recentObjectsHook', 'PROGRAM'],
  ['remote.origin.uploadpack', 'PROGRAM'],
  ['remote.origin.url', 'ext::PROGRAM'],
  ['interactive.diffFilter', 'PROGRAM'],
  ['extensions.partialClone', 'origin'],
  ['include.path', 'INCLUDED'],
];
export const HOOKS = [
  ...[
    'pre-commit',
    'prepare-commit-msg',
    'commit-msg',
    'post-commit',
    'pre-merge-commit',
    'post-merge',
    'post-checkout',
  ],
  ...[
    'post-index-change',
    'reference-transaction',
    'pre-push',
    'pre-auto-gc',
    'post-rewrite',
    'pre-rebase',
    'fsmonitor-watchman',
    'update',
  ],
];

/** Every key and hook in a repository, as a program of its own. */
export function poison({ root, repository }: { readonly root: string; readonly repository: string }): void {
  for (const name of HOOKS) program(join(repository, '.git', 'hooks'), name, root);
  for (const name of HOOKS) program(join(root, 'hooks'), name, root);
  const included = join(root, 'included');
  writeFileSync(included, `[alias]\n\tincluded = "!${program(join(root, 'programs'), 'include-path', root)}"\n`);
  for (const [key, value] of KEYS) {
    if (['commit.gpgsign', 'extensions.partialClone'].includes(key)) continue;
    const evil = program(join(root, 'programs'), key.replaceAll('.', '-').toLowerCase(), root);
    const real = value.replace('PROGRAM', evil).replace('HOOKS', join(root, 'hooks')).replace('INCLUDED', included);
    git(repository, 'config', key, real);
  }
  mkdirSync(join(repository, '.git', 'info'), { recursive: true });
  appendFileSync(
    join(repository, '.git', 'info', 'attributes'),
    '* filter=evil diff=evil merge=evil\n*.plain filter=plain\n',
  );
}

/** What a program writes to stderr when it runs: a sandbox may keep it from leaving its mark. */
export const RAN = 'squad-test-ran-';

/** A program that leaves a file `mark-<name>` in `root` and in the folder that it runs in. */
export function program(folder: string, name: string, root: string): string {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\ntouch ${join(root, `mark-${name}`)} mark-${name}\necho ${RAN}${name} >&2\nexit 0\n`);
  chmodSync(path, 0o755);
  return path;
}
