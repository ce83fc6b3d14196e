import { expect, it } from 'vitest';
import { decideFolderCheck } from '../../src/cli/doctor-checks.ts';

const local = (path: string) => ({ path, network: undefined, ofContainer: false });
const on = (path: string, network: string) => ({ path, network, ofContainer: false });

it('is content with local disks', () => {
  const folders = { checkout: local('/repo'), common: local('/repo/.git'), state: local('/state') };
  expect(decideFolderCheck(folders)).toEqual({
    name: 'repository',
    ok: true,
    found: '/repo, on a local file system',
    problems: [],
  });
});

it('says that a run would be refused where its databases are on a network', () => {
  const folders = { checkout: local('/repo'), common: local('/repo/.git'), state: on('/other/state', 'NFS') };
  const { ok, problems } = decideFolderCheck(folders);
  expect(ok).toBe(false);
  expect(problems).toEqual([
    { text: expect.stringContaining('below /other/state'), next: expect.stringContaining('SQUAD_STATE') },
  ]);
});

it.each([
  [{ checkout: on('/repo', 'NFS'), common: on('/repo/.git', 'NFS') }, '/repo', 'NFS'],
  [{ checkout: local('/linked'), common: on('/share/.git', 'fuse.sshfs') }, '/share/.git', 'fuse.sshfs'],
])('only warns about a repository there: %j', (folders, path, kind) => {
  const { ok, problems } = decideFolderCheck({ ...folders, state: local('/state') });
  expect(ok).toBe(true);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.text).toContain(`${path} is on a network file system (${kind})`);
});

it('warns about a state folder that goes with its container', () => {
  const state = { ...local('/home/me/.local/state/squad'), ofContainer: true };
  const { ok, problems } = decideFolderCheck({ checkout: local('/repo'), common: local('/repo/.git'), state });
  expect(ok).toBe(true);
  expect(problems).toEqual([
    { text: expect.stringContaining('layer of a container'), next: expect.stringContaining('`git`') },
  ]);
});
