import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../src/substrate/system/clock/system-clock.ts';
import { createSystemProcesses } from '../../../../src/substrate/system/process/system-processes.ts';
import { githubApi, type CallApi } from '../../../../src/substrate/git/forge/gh-api.ts';
import type { ForgePorts } from '../../../../src/substrate/git/forge/remotes.ts';
import { Github, type Fault } from '../../../support/github/index.ts';
import { findGh } from '../../../support/github/find-gh.ts';
import { ALL } from '../../../support/lane.ts';

/** The real `gh` against GitHub on loopback. */
const GH = findGh();
let github: Github;
beforeAll(async () => {
  github = await Github.open();
});
afterAll(async () => github.close());
beforeEach(() => {
  github.fault = () => undefined;
});

async function api(environment: Record<string, string | undefined> = {}): Promise<CallApi> {
  const ports: ForgePorts = {
    processes: createSystemProcesses({ clock: createSystemClock() }),
    environment: { PATH: process.env['PATH'], HOME: '/nonexistent', ...github.environment, ...environment },
    binary: () => Promise.resolve('/usr/bin/git'),
    stateDirectory: '/nonexistent',
    forgeCli: () => Promise.resolve(GH),
  };
  const found = await githubApi(ports, 'https://github.com/acme/app.git');
  if (typeof found !== 'function') throw new Error(found.why);
  return found;
}

describe.skipIf(GH === undefined)(
  `the API of GitHub through gh${GH === undefined ? ' (it is not installed)' : ''}`,
  () => {
    it('reads, says that nothing has changed, and writes texts as they are', ALL, async () => {
      const call = await api();
      github.addIssue({ number: 1, title: 'Fix it', body: 'now', user: 'ann' });
      const first = await call({ path: 'issues', fields: { per_page: 1 } });
      expect(first).toMatchObject({ type: 'ok', more: false, body: [{ number: 1, title: 'Fix it' }] });
      const etag = first.type === 'ok' ? first.etag : '';
      expect(await call({ path: 'issues', fields: { per_page: 1 }, etag })).toEqual({ type: 'same' });
      github.addIssue({ number: 2, title: 'Second', body: '', user: 'ann' });
      const jq = '[.[].number]';
      expect(await call({ path: 'issues', fields: { per_page: 1 }, etag, jq })).toMatchObject({
        body: [2],
        more: true,
      });
      const body = '@/etc/hostname {owner} --method=DELETE\n“true”\n';
      expect(await call({ method: 'POST', path: 'issues/1/comments', fields: { body } })).toMatchObject({ type: 'ok' });
      expect(github.state.issues.get(1)?.comments.map((one) => one.body)).toEqual([body]);
      const labels = ['a', '@b'];
      expect(await call({ method: 'POST', path: 'issues/1/labels', fields: { labels } })).toMatchObject({ type: 'ok' });
      expect(github.state.issues.get(1)?.labels).toEqual(labels);
      expect(await call({ path: '/user' })).toMatchObject({ body: { login: 'squad-bot' } });
      expect(await call({ path: 'issues/99' })).toMatchObject({ type: 'gone' });
    });

    it.for<[Fault, object]>([
      ['limit', { type: 'later', afterMs: 1_000 }],
      ['secondary', { type: 'later', afterMs: 1_000 }],
      ['used-up', { type: 'later' }],
      ['error', { type: 'later', afterMs: 60_000 }],
      ['cut', { type: 'later', afterMs: 60_000 }],
      ['logged-out', { type: 'refused', next: 'Log in again: `gh auth login --hostname github.com`.' }],
    ])('takes %s for what it is', ALL, async ([fault, answer]) => {
      const call = await api();
      github.fault = () => fault;
      expect(await call({ path: 'issues' })).toMatchObject(answer);
    });

    it('says that there is no login, no right, or no network', ALL, async () => {
      const out = await api({ GH_TOKEN: undefined, GH_ENTERPRISE_TOKEN: undefined });
      const next = 'Run `gh auth login --hostname github.com`.';
      expect(await out({ path: 'issues' })).toMatchObject({ type: 'refused', next });
      github.addUser({ login: 'reader', permission: 'read' }, 'ghp_reader');
      const reader = await api({ GH_TOKEN: 'ghp_reader' });
      const post = { method: 'POST', path: 'issues/1/labels', fields: { labels: ['x'] } } as const;
      expect(await reader(post)).toMatchObject({ type: 'refused' });
      const cut = await api({ HTTPS_PROXY: 'http://127.0.0.1:9' });
      expect(await cut({ path: 'issues' })).toMatchObject({ type: 'later' });
    });
  },
);
