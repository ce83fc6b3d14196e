import { z } from 'zod';
import type { NotDone } from '../../ports/forge-answer.ts';
import type { ForgeIssues } from '../../ports/forge-issues.ts';
import { readValue as value } from './api-answer.ts';
import type { CallApi } from './gh-api.ts';

const [DEVELOPER, OWNER] = [30, 50];
/** As many as a name finds: its answers are whole. */
const MOST = 20;

const membersSchema = z.array(z.object({ username: z.string(), access_level: z.int(), state: z.string().optional() }));

/** The person's own name there. */
export function ownName(call: CallApi): () => Promise<{ readonly type: 'login'; readonly login: string } | NotDone> {
  return async () =>
    value(await call({ path: '/user' }), z.object({ username: z.string() }), ({ username }) => ({
      type: 'login',
      login: username,
    }));
}

export async function gitlabRole(call: CallApi, login: string): ReturnType<ForgeIssues['roleOf']> {
  const answer = await call({ path: 'members/all', fields: { query: login, per_page: MOST } });
  return value(answer, membersSchema, (members) => {
    const found = members.find(({ username, state = 'active' }) => username === login && state === 'active');
    const level = found?.access_level ?? 0;
    return { type: 'role', role: level >= OWNER ? 'owner' : level >= DEVELOPER ? 'member' : 'none' };
  });
}
