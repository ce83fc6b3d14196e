import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SPRINT_ROLES } from '../../src/playbooks/sprint/roles.ts';
import { TEAM_ROLES } from '../../src/model/sprint/roles.ts';
import { bindWorkspace, openWorkspace } from '../../src/squad/open-workspace.ts';
import { readSkill } from '../../src/squad/preflight/read-skill.ts';
import { ROLE_STARTERS } from '../../src/squad/preflight/team-starter/roles.ts';
import { withSection } from '../../src/squad/preflight/team-starter/with-section.ts';
import { readTeamSettings } from '../../src/squad/team/team-settings.ts';
import { writeTeamFiles } from '../../src/squad/team/write-team-files.ts';
import { openLedger } from '../../src/substrate/ledger/index.ts';
import { testHost } from '../support/test-host.ts';
import { commandRoom } from './room.ts';
import { ALL } from '../support/lane.ts';

interface Said {
  readonly written: readonly string[];
  readonly kept: readonly string[];
  readonly next: readonly string[];
}

it('writes a whole team, which its own readers accept, and overwrites nothing', ALL, async () => {
  const { root, repository, run } = commandRoom();
  const first = await run(['init', '--playbook', 'sprint', '--into', 'crew', '--json']);
  expect(first.code, first.stderr).toBe(0);
  const [said] = first.lines as unknown as [Said];
  expect(said.kept).toEqual([]);
  for (const name of [
    'communication_protocol.md',
    'file_contracts.md',
    'COMMIT_POLICY.md',
    'workspace_context.md',
    '.gitignore',
  ])
    expect(said.written).toContain(`crew/${name}`);
  for (const { folder } of Object.values(ROLE_STARTERS)) {
    expect(readdirSync(join(repository, 'crew', folder))).toEqual(
      expect.arrayContaining(['AGENTS.md', 'history.md', 'journal.md', 'sources', 'todo.md']),
    );
  }
  expect(readdirSync(join(repository, 'crew/internal')).toSorted()).toEqual([
    'parser',
    'sourcer',
    'version_controller',
  ]);
  expect(readFileSync(join(repository, 'crew/shared_workspace/current_sprint.md'), 'utf8')).toContain(
    'No sprint is active.',
  );

  // As a comment, which is right once its marks are gone.
  const commented = readFileSync(join(repository, 'squad.yaml'), 'utf8').split('# rules and skill').at(-1) ?? '';
  expect(commented).not.toMatch(/runtime: ,/);
  expect(commented).toMatch(/role: research, runtime: \w+, access: edit, network: true,\n/);
  expect(commented.match(/network: true/g)).toHaveLength(1);

  const workspace = bindWorkspace(await openWorkspace({ host: testHost(root, { workingDirectory: repository }) }));
  const settings = await readTeamSettings(workspace);
  expect(settings).toMatchObject({ folder: 'crew', timezone: 'Asia/Seoul', start: 'hybrid' });
  expect(Object.keys(settings.policy.roles)).toEqual(TEAM_ROLES);
  expect(Object.keys(SPRINT_ROLES)).toEqual(TEAM_ROLES);
  expect(settings.commitPolicy).toContain('```commit-policy');
  for (const { folder, skill } of Object.values(ROLE_STARTERS)) {
    if (skill === undefined) continue;
    const files = await readSkill(
      repository,
      join('crew', folder, 'skills', skill.name),
      (why) => new Error(why) as never,
    );
    expect(files.map(({ path }) => path)).toEqual(['SKILL.md']);
  }

  // The files that the folder begins with are squad's own: the first sink keeps none of them aside.
  openLedger(workspace.directory, workspace.composition).close();
  expect((await writeTeamFiles(workspace, settings)).kept).toEqual([]);

  writeFileSync(join(repository, 'crew/qa/todo.md'), 'mine\n');
  const again = await run(['init', '--playbook', 'sprint', '--into', 'crew/', '--json']);
  const [second] = again.lines as unknown as [Said];
  expect([second.written, second.kept.length]).toEqual([[], said.written.length]);
  expect(readFileSync(join(repository, 'crew/qa/todo.md'), 'utf8')).toBe('mine\n');
});

it('uncommented, the cast of its settings is one that a run accepts', async () => {
  const { repository, run } = commandRoom();
  await run(['init', '--playbook', 'sprint', '--json']);
  const text = readFileSync(join(repository, 'squad.yaml'), 'utf8');
  const at = text.lastIndexOf('# agents:\n#   - { name: research');
  if (at < 0) return expect(text).not.toContain('name: developer-1');
  const cast = text.slice(at).replaceAll(/^# /gm, '');
  writeFileSync(join(repository, 'squad.yaml'), `version: 1\n${cast}`);
  const { stderr } = await run(['doctor', '--json']);
  expect(stderr).not.toContain('squad.yaml');
});

it('adds its section to settings that are there, and says so where it cannot', async () => {
  const { repository, run } = commandRoom();
  writeFileSync(join(repository, 'squad.yaml'), 'version: 1\nlimits: { usd: 3 } # mine\n');
  const added = await run(['init', '--playbook', 'sprint', '--json']);
  expect((added.lines as unknown as [Said])[0].written).toContain('squad.yaml');
  expect(readFileSync(join(repository, 'squad.yaml'), 'utf8')).toMatch(
    /^version: 1\nlimits: \{ usd: 3 \} # mine\n\n#.*\nsprint:\n/,
  );

  rmSync(join(repository, 'team'), { recursive: true });
  writeFileSync(join(repository, 'squad.yaml'), '{ version: 1 }\n');
  const [kept] = (await run(['init', '--playbook', 'sprint', '--json'])).lines as unknown as [Said];
  expect(kept.kept).toEqual(['squad.yaml']);
  expect(kept.next[0]).toBe('add to squad.yaml: `sprint: { folder: team }`');
  expect(readFileSync(join(repository, 'squad.yaml'), 'utf8')).toBe('{ version: 1 }\n');
});

it.each([
  ['', 'sprint: {}\n'],
  ['# only a comment', '# only a comment\n\nsprint: {}\n'],
  ['version: 1', 'version: 1\n\nsprint: {}\n'],
  ['sprint: {}\n', undefined],
  ['{ version: 1 }\n', undefined],
  ['notify: |\n  a\n', 'notify: |\n  a\n\nsprint: {}\n'],
  ['a: [\n', undefined],
])('adds a section to %j', (text, joined) => {
  expect(withSection(text, 'sprint: {}\n', 'sprint')).toBe(joined?.replace(/^\n/, ''));
});

it('refuses a folder outside of the repository, and a link on the way, before it writes anything', async () => {
  const { root, repository, run } = commandRoom();
  for (const folder of ['../out', '/tmp/out', 'a/../../out', '.git', '']) {
    const { code, stderr } = await run(['init', '--playbook', 'sprint', '--into', folder]);
    expect([folder, code, stderr]).toEqual([folder, 2, expect.stringContaining('is no folder of the repository')]);
  }
  mkdirSync(join(root, 'outside'));
  symlinkSync(join(root, 'outside'), join(repository, 'team'));
  const linked = await run(['init', '--playbook', 'sprint']);
  expect([linked.code, linked.stderr]).toEqual([
    65,
    expect.stringContaining('is no folder, and squad would write into it'),
  ]);
  expect([readdirSync(join(root, 'outside')), existsSync(join(repository, 'squad.yaml'))]).toEqual([[], false]);
  const alone = await run(['init', '--into', 'team']);
  expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--into is the folder of a team')]);
});
