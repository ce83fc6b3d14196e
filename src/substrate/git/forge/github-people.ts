import { z } from 'zod';
import type { NotDone } from '../../ports/forge-answer.ts';
import type { ForgeIssues } from '../../ports/forge-issues.ts';
import { readValue as value } from './api-answer.ts';
import type { CallApi } from './gh-api.ts';

/** Looked up once. */
export function ownLogin(call: CallApi): () => Promise<string | NotDone> {
  let known: string | undefined;
  return async () => {
    if (known !== undefined) return known;
    const answer = await call({ path: '/user', jq: '{login}' });
    const found = value(answer, z.object({ login: z.string() }), ({ login }) => ({ type: 'login' as const, login }));
    if (found.type !== 'login') return found;
    known = found.login;
    return known;
  };
}

/** Its rights there now: `maintain` is said to be `write`, and `triage` to be `read`. */
export async function roleOf(call: CallApi, login: string): ReturnType<ForgeIssues['roleOf']> {
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,99})$/.test(login)) return { type: 'role', role: 'none' };
  const answer = await call({ path: `collaborators/${login}/permission`, jq: '{permission}' });
  if (answer.type === 'gone') return { type: 'role', role: 'none' };
  return value(answer, z.object({ permission: z.string() }), ({ permission }) => ({
    type: 'role',
    role: permission === 'admin' ? 'owner' : permission === 'write' ? 'member' : 'none',
  }));
}
