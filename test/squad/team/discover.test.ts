import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { KINDS } from '../../../src/model/sprint/kinds.ts';
import type { Discovery } from '../../../src/model/sprint/settings.ts';
import { actionItems } from '../../../src/squad/preflight/action-items.ts';
import { readActions } from '../../../src/squad/preflight/read-actions.ts';
import { agree } from '../../../src/squad/preflight/consent.ts';
import { discoveryItems } from '../../../src/squad/preflight/discovery-items.ts';
import { bindWorkspace, openWorkspace, withLedger } from '../../../src/squad/open-workspace.ts';
import { discover } from '../../../src/squad/team/discover.ts';
import { lookAtTeam } from '../../../src/squad/team/read-team.ts';
import { NO_FACTS } from '../../../src/view/report/team/team-facts.ts';
import { teamFiles } from '../../../src/view/report/team/team-files.ts';
import { plainJson } from '../../../src/text/json.ts';
import { commandRoom } from '../../cli/room.ts';
import { git } from '../../support/git.ts';
import { T0, teamAfter } from '../../support/team-records.ts';
import { testHost } from '../../support/test-host.ts';
import { ALL } from '../../support/lane.ts';

const SECRET = `ghp_${'a1B2c3D4e5'.repeat(4)}`;

async function room(discovery: readonly Discovery[] = [], actions: Readonly<Record<string, object>> = {}) {
  const { root, repository } = commandRoom();
  const settings = `sprint: ${JSON.stringify({ folder: 'docs/team', discovery })}\nactions: ${JSON.stringify(actions)}\n`;
  writeFileSync(join(repository, 'squad.yaml'), settings);
  git(repository, 'add', '--all');
  git(repository, 'commit', '--quiet', '--message', 'settings');
  const host = testHost(root, { workingDirectory: repository, configHome: join(root, '.config') });
  const workspace = bindWorkspace(await openWorkspace({ host }));
  const look = { folder: 'docs/team', discovery };
  const logs = join(repository, 'docs/team/logs/agents');
  mkdirSync(logs, { recursive: true });
  return {
    ...{ root, repository, workspace, logs, settings },
    discover: async () => discover(workspace, look),
    titles: () => [...lookAtTeam(workspace).team.finding.values()].map(({ title }) => title),
  };
}

it('finds what is new once, says so in the log of the sourcer, and is quiet then', ALL, async () => {
  const { repository, logs, workspace, discover: look, titles } = await room();
  expect(await look()).toEqual({ changed: false, open: [], problems: [] });
  mkdirSync(join(repository, 'src'));
  writeFileSync(join(repository, 'src/a.ts'), 'a');
  writeFileSync(join(logs, 'web.log'), `fine\n2026-11-28 ERROR no route for ${SECRET}\nERROR no`);
  symlinkSync('/etc/hostname', join(logs, 'linked.log'));
  execFileSync('mkfifo', [join(logs, 'pipe.log')]);
  const first = await look();
  expect([first.changed, first.open.length, first.problems]).toEqual([true, 3, []]);
  expect(titles()).toEqual([
    'src has changes that no commit has',
    'web.log: 2026-11-28 ERROR no route for [redacted]',
    'web.log: ERROR no',
  ]);
  appendFileSync(join(logs, 'web.log'), '\n2026-11-29 ERROR no route for 5\n');
  expect(await look()).toMatchObject({ changed: false, open: first.open });

  // A planner has had one, and an item was made of another.
  const [seen = '', made = '', left = ''] = first.open;
  await withLedger(workspace, 'write', (ledger) => {
    const review = { run: 'u', requests: [], findings: [seen], at: 1 };
    ledger.writeRecord({ kind: KINDS.review, id: 'plan-1', value: review });
    const before = ledger.record(KINDS.finding, made)?.value as object;
    ledger.writeRecord({ kind: KINDS.finding, id: made, value: plainJson({ ...before, settled: 'b-a' }) });
  });
  expect(await look()).toMatchObject({ changed: false, open: [left] });
  const log = readFileSync(join(repository, 'docs/team/logs/operations/sourcer.log'), 'utf8').split('\n');
  expect(log).toEqual([
    expect.stringMatching(/^\S+Z looked found=3 new=3$/),
    expect.stringMatching(/^\S+Z found f-\w+ bug 40 web\.log: 2026-11-28 ERROR no route for \[redacted\]$/),
    expect.stringMatching(/^\S+Z found f-\w+ bug 40 web\.log: ERROR no$/),
    expect.stringMatching(/^\S+Z found f-\w+ chore 20 src has changes that no commit has$/),
    '',
  ]);
});

it('never finds an insight: it stays in the journal of its role', async () => {
  const { repository, discover: look, titles } = await room();
  const insight = 'ERROR: the cache is cold. Traceback (most recent call last)';
  const team = teamAfter({ sprints: 1, active: true });
  const [id = ''] = team.sprint.keys();
  const answer = {
    ...{ request_id: 'a', role: 'developer', status: 'completed', summary: 'Built it', error: null },
    ...{ insights: [insight], artifacts: [], proposals: {} },
  };
  const turn = { id: 'a-1', role: 'developer', agent: 'dev', runtime: 'claude', task: 'a', title: 'A', startedAt: T0 };
  const turns = [{ ...turn, endedAt: T0, outcome: 'completed', answer }];
  const sprints = new Map([[id, { ...NO_FACTS, turns }]]);
  for (const { path, text } of teamFiles(team, { timezone: 'Asia/Seoul', isOver: () => true, sprints })) {
    mkdirSync(dirname(join(repository, 'docs/team', path)), { recursive: true });
    writeFileSync(join(repository, 'docs/team', path), text);
  }
  expect(readFileSync(join(repository, 'docs/team/developer/journal.md'), 'utf8')).toContain('Traceback');
  expect(readFileSync(join(repository, 'docs/team/logs/agents/developer.log'), 'utf8')).toContain('service_start');
  expect(await look()).toEqual({ changed: false, open: [], problems: [] });
  expect(titles()).toEqual([]);
});

it('runs its commands only with consent to them as they are', ALL, async () => {
  const commands = ['echo fix this; touch ran', 'echo broken >&2; exit 3'];
  const { repository, workspace, settings, discover: look, titles } = await room(commands);
  const refused = await look();
  expect([refused.changed, refused.problems]).toEqual([false, [expect.stringContaining('you have not agreed')]]);
  expect(git(repository, 'status', '--porcelain')).not.toContain('ran');
  const items = discoveryItems(commands, { file: 'squad.yaml', text: settings });
  expect(items.map(({ where }) => where)).toEqual(['squad.yaml:1', 'squad.yaml:1']);
  const { repository: place, composition, host } = workspace;
  await agree(
    items,
    { clock: composition.clock, host, confirm: () => Promise.resolve(true) },
    { repository: place, yes: false },
  );
  expect(await look()).toMatchObject({ changed: true, problems: [] });
  expect(titles()).toEqual(['fix this', '`echo broken >&2; exit 3` fails: it exits with 3']);
  writeFileSync(join(repository, 'squad.yaml'), settings.replace('fix this', 'fix that'));
  rmSync(join(repository, 'ran'));
  const other = await discover(workspace, {
    folder: 'docs/team',
    discovery: ['echo fix that; touch ran', commands[1] ?? ''],
  });
  expect(other.problems).toHaveLength(1);
});

it('runs an action that a person has agreed to, with its arguments, and says why another one does not run', async () => {
  const discovery: Discovery[] = [
    { action: 'audit', args: ['a; touch ran'] },
    { action: 'gone', args: [] },
    { action: 'few', args: ['1'] },
  ];
  const actions = { audit: { run: 'printf "%s\\n" "weak: $1"', args: 1 }, few: { run: 'true' } };
  const { repository, workspace, settings, discover: look, titles } = await room(discovery, actions);
  const { clock } = workspace.composition;
  const ports = { clock, host: workspace.host, confirm: () => Promise.resolve(true) };
  const about = { repository: workspace.repository, yes: false };
  expect((await look()).problems).toEqual([expect.stringContaining('not agreed to its commands')]);
  await agree(discoveryItems(discovery, { file: 'squad.yaml', text: settings }), ports, about);
  const others = [expect.stringMatching(/no action gone/), expect.stringMatching(/few takes no arguments/)];
  expect((await look()).problems).toEqual([expect.stringContaining('not agreed to the action audit'), ...others]);
  const read = await readActions(repository);
  await agree(actionItems('audit', read.actions['audit']!, read.source), ports, about);
  expect((await look()).problems).toEqual(others);
  expect(titles()).toEqual(['weak: a; touch ran']);
  expect(git(repository, 'status', '--porcelain')).not.toContain('ran');
});
