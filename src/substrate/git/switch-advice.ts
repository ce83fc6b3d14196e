import { shellWord } from '../../text/shell-word.ts';
import { createGit, type GitPorts } from './git-call.ts';
import { callOn } from './git-context.ts';
import type { Checkout } from './repository.ts';

/** The command that checks out a branch of the person: their main one, or another that is there, or else a new one here. */
export async function switchAdvice(
  ports: GitPorts,
  { commonDirectory }: Pick<Checkout, 'commonDirectory'>,
): Promise<string> {
  const args = ['for-each-ref', '--sort=-committerdate', '--format=%(refname:strip=2)', 'refs/heads'];
  const { stdout } = await createGit(ports).run(args, callOn(commonDirectory));
  const branches = stdout.split('\n').filter((name) => name !== '' && !name.startsWith('squad/'));
  const known = ['main', 'master'].find((name) => branches.includes(name)) ?? branches[0];
  return known === undefined ? 'git switch -c main' : `git switch ${shellWord(known)}`;
}
