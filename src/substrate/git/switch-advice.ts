import { shellWord } from '../../text/shell-word.ts';
import { createGit, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import type { Checkout } from './repository.ts';

/** The command that checks out a branch of the person: their main one, or another that is there, or else a new one here. */
export async function switchAdvice(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
): Promise<string> {
  const format = '--format=%(refname:strip=2) %(worktreepath)';
  const args = ['for-each-ref', '--sort=-committerdate', format, 'refs/heads'];
  const { stdout } = await createGit(ports).run(args, callOn(commonDirectory));
  const lines = stdout.split('\n').map((line) => line.split(' '));
  const names = new Set(lines.map(([name = '']) => name));
  // git checks out no branch twice.
  const branches = lines.flatMap(([name = '', ...path]) =>
    name === '' || name.startsWith('squad/') || path.join('') !== '' ? [] : [name],
  );
  const known = ['main', 'master'].find((name) => branches.includes(name)) ?? branches[0];
  const free = ['main', 'work', 'more-work'].find((name) => !names.has(name)) ?? 'other-work';
  return known === undefined ? `git switch -c ${free}` : `git switch ${shellWord(known)}`;
}
