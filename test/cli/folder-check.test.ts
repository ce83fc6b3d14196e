import { expect, it } from 'vitest';
import { decideFolderCheck } from '../../src/cli/doctor-checks.ts';

const local = (path: string) => ({ path, network: undefined });
const on = (path: string, network: string) => ({ path, network });

it('is content with local disks', () => {
  const folders = { checkout: local('/repo'), common: local('/repo/.git'), state: local('/state') };
  expect(decideFolderCheck(folders)).toEqual({
    name: 'repository',
    ok: true,
    found: '/repo, on a local file system',
    problems: [],
  });
});

it.each([
  [{ checkout: on('/repo', 'NFS'), common: on('/repo/.git', 'NFS'), state: local('/state') }, '/repo', 'NFS'],
  [
    { checkout: local('/linked'), common: on('/share/.git', 'fuse.sshfs'), state: local('/state') },
    '/share/.git',
    'fuse.sshfs',
  ],
])('says that a run would be refused where its databases or locks are on a network: %j', (folders, path, kind) => {
  const { ok, problems } = decideFolderCheck(folders);
  expect(ok).toBe(false);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.text).toContain(`${path} is on a network file system (${kind})`);
});

it('only warns about worktrees there', () => {
  const folders = { checkout: local('/repo'), common: local('/repo/.git'), state: on('/other/state', 'NFS') };
  expect(decideFolderCheck(folders)).toMatchObject({
    ok: true,
    problems: [
      { text: expect.stringContaining('below /other/state'), next: expect.stringContaining('XDG_STATE_HOME') },
    ],
  });
});
