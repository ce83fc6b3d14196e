import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A ChatGPT login of long ago, which its server will not renew. Returns the variables of codex. */
export async function expireCodex(home: string, closing: (() => unknown)[]): Promise<Record<string, string>> {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const account = { chatgpt_plan_type: 'pro', chatgpt_account_id: 'account', chatgpt_user_id: 'user' };
  const token = `${part({ alg: 'none' })}.${part({ exp: 1, email: 'a@b.c', 'https://api.openai.com/auth': account })}.x`;
  const tokens = { id_token: token, access_token: token, refresh_token: 'old', account_id: 'account' };
  mkdirSync(join(home, '.codex'));
  const login = { auth_mode: 'chatgpt', OPENAI_API_KEY: null, tokens, last_refresh: '2024-01-01T00:00:00Z' };
  writeFileSync(join(home, '.codex', 'auth.json'), JSON.stringify(login));
  const server = createServer((_request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { code: 'refresh_token_expired', message: 'expired' } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return { CODEX_REFRESH_TOKEN_URL_OVERRIDE: `http://127.0.0.1:${(server.address() as AddressInfo).port}/oauth/token` };
}
