import { anyPlace, type GitContext } from './git-context.ts';
import type { RepositoryTalk } from './repository-talk.ts';

export async function isAncestor(context: GitContext, ancestor: string, commit: string): Promise<boolean> {
  const { call, talk } = await anyPlace(context);
  if (await isNear(talk, ancestor, commit)) return true;
  const { code } = await context.git.run(['merge-base', '--is-ancestor', ancestor, commit], call);
  return code === 0;
}

export async function mergeBase(context: GitContext, one: string, other: string): Promise<string | undefined> {
  const { call, talk } = await anyPlace(context);
  if (await isNear(talk, one, other)) return one;
  const answer = await context.git.run(['merge-base', one, other], call);
  return answer.code === 0 ? answer.stdout.trim() : undefined;
}

const MOST_STEPS = 20;

/** Whether a few steps back from a commit lead to an ancestor. False says nothing. */
async function isNear(talk: RepositoryTalk, ancestor: string, commit: string): Promise<boolean> {
  const ahead = new Set([commit]);
  for (const at of ahead) {
    if (at === ancestor) return true;
    if (ahead.size > MOST_STEPS) return false;
    for (const parent of (await talk.commit(at))?.parents ?? []) ahead.add(parent);
  }
  return false;
}
