import { expect, it } from 'vitest';
import { gitlabIssues } from '../../../../src/substrate/git/forge/gitlab-issues.ts';
import type { ForgePorts } from '../../../../src/substrate/git/forge/remotes.ts';
import type { ForgeIssues } from '../../../../src/substrate/ports/forge-issues.ts';

const AT = '2026-11-29T06:00:00.000Z';
const PROJECT = 'projects/acme%2Ftools%2Fapp';

/** Answers in the form of GitLab's documents, by method and address. No real GitLab and no real `glab` has been asked. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  'GET user': { username: 'squad-bot' },
  [`GET ${PROJECT}/issues/7`]: {
    ...{ iid: 7, title: 'Fix it', description: null, web_url: 'https://gitlab.com/acme/tools/app/-/issues/7' },
    ...{ state: 'opened', labels: ['squad'] },
  },
  [`GET ${PROJECT}/issues/7/resource_label_events`]: [
    { id: 1, created_at: AT, action: 'add', user: { username: 'mallory' }, label: { name: 'squad' } },
    { id: 2, created_at: AT, action: 'add', user: { username: 'ann' }, label: { name: 'squad' } },
    { id: 3, created_at: AT, action: 'add', user: { username: 'tess' }, label: null },
  ],
  [`GET ${PROJECT}/issues/7/notes`]: [
    { id: 5, body: 'changed the description', created_at: AT, system: true, author: { username: 'mallory' } },
    { id: 6, body: '<!-- squad:m -->\nmine', created_at: AT, system: false, author: { username: 'squad-bot' } },
    { id: 7, body: '<!-- squad:m -->\nnot mine', created_at: AT, system: false, author: { username: 'mallory' } },
  ],
  [`GET ${PROJECT}/issues`]: [{ iid: 7, updated_at: AT, labels: ['squad'] }],
  [`GET ${PROJECT}/members/all`]: [
    { username: 'ann', access_level: 30, state: 'active' },
    { username: 'owner', access_level: 50 },
    { username: 'tess', access_level: 20 },
    { username: 'gone', access_level: 50, state: 'blocked' },
  ],
  [`POST ${PROJECT}/issues/7/notes`]: { id: 99 },
  [`PUT ${PROJECT}/issues/7/notes/6`]: { id: 6 },
  [`PUT ${PROJECT}/issues/7`]: { iid: 7 },
};

async function open(status = 200): Promise<{ issues: ForgeIssues; calls: string[][] }> {
  const calls: string[][] = [];
  const run = async (_: string, args: readonly string[]) => {
    calls.push([...args]);
    const method = args.find((arg) => arg.startsWith('--method='))?.slice('--method='.length);
    const address = args.at(-1)?.split('?')[0];
    const body = JSON.stringify(ANSWERS[`${method} ${address}`] ?? { message: '404 Not found' });
    const head = `HTTP/2.0 ${status} X\nRatelimit-Remaining: 0\nRatelimit-Reset: 61\nDate: Thu, 01 Jan 1970 00:00:01 GMT\nEtag: W/"a"`;
    return { code: status === 200 ? 0 : 1, stdout: `${head}\n\n${body}`, stderr: '' };
  };
  const ports = {
    processes: { run },
    environment: {},
    forgeCli: () => Promise.resolve('/usr/bin/glab'),
  } as unknown as ForgePorts;
  const issues = await gitlabIssues(ports, { host: 'gitlab.com', path: 'acme/tools/app' });
  if ('type' in issues) throw new Error(issues.why);
  return { issues, calls };
}

it('reads who set a label, when the text changed, and the rights of people, as GitLab’s documents say it', async () => {
  const { issues } = await open();
  expect(await issues.list({ label: 'squad' })).toEqual({
    ...{ type: 'listed', etag: 'W/"a"', issues: [{ number: 7, changed: AT, labels: ['squad'] }] },
  });
  const at = Date.parse(AT);
  expect(await issues.read({ number: 7, label: 'squad' })).toMatchObject({
    type: 'found',
    issue: { body: '', isOpen: true, set: { id: '2', by: 'ann', at }, editedAt: at },
  });
  const roles = ['owner', 'ann', 'tess', 'gone', 'mallory'].map(async (one) => issues.roleOf(one));
  expect((await Promise.all(roles)).map((one) => 'role' in one && one.role)).toEqual([
    ...['owner', 'member', 'none', 'none', 'none'],
  ]);
});

it('finds its own note, and gives each text with =', async () => {
  const { issues, calls } = await open();
  const about = { number: 7, marker: 'm', text: '@/etc/hostname --x', since: 0 };
  expect(await issues.post(about)).toEqual({ type: 'posted', id: '6' });
  expect(await issues.post({ ...about, marker: 'n' })).toEqual({ type: 'posted', id: '99' });
  expect(await issues.edit({ ...about, id: '6' })).toEqual({ type: 'edited' });
  expect(await issues.relabel({ number: 7, set: 'squad:done', remove: ['a', 'b'] })).toEqual({ type: 'labelled' });
  expect(calls.at(-1)).toEqual(
    expect.arrayContaining(['--raw-field=add_labels=squad:done', '--raw-field=remove_labels=a,b']),
  );
  expect(calls.flat()).toContain('--raw-field=body=<!-- squad:n -->\n@/etc/hostname --x');
});

it('waits for a limit as long as GitLab says', async () => {
  const { issues } = await open(429);
  expect(await issues.list({ label: 'squad' })).toMatchObject({ type: 'later', afterMs: 61_000 });
});
