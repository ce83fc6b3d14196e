import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMyRuntime } from '../../examples/forty-line-runtime.ts';
import { createPagesPlaybook } from '../../examples/thirty-line-playbook.ts';
import type { RunEvent } from '../../src/model/run-event.ts';
import { createSquad, type Squad, type SquadOptions } from '../../src/squad/squad.ts';
import { git } from '../support/git.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits } from '../runs/run-script.ts';
import { ALL } from '../support/lane.ts';

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));

const OBJECTIVE = `# Objective: Explain the parts

## Goals

1. Explain the engine
2. Explain the ledger

## Success Criteria

- [ ] Both pages are there (run: test -s docs/page-1.md && test -s docs/page-2.md)
`;

const page = (number: number, text: string) => author(`page-${number}`, commits({ [`docs/page-${number}.md`]: text }));

/** A repository whose settings name a runtime and a playbook that squad does not have. */
function openExample(): RunBench {
  const script = [page(1, 'The engine.\n'), page(2, 'The ledger.\n'), APPROVE_ALL];
  const bench = openRunBench({ script, objective: OBJECTIVE });
  onTestFinished(() => bench.end());
  const written = JSON.parse(readFileSync(join(bench.repository, 'squad.yaml'), 'utf8')) as Settings;
  const config = { ...written.runtimes.scripted.config, program: path('src/runtimes/scripted/player.mjs') };
  writeFileSync(
    join(bench.repository, 'squad.yaml'),
    JSON.stringify({ playbook: 'pages', runtimes: { ...written.runtimes, mine: { config } } }),
  );
  return bench;
}
type Settings = { runtimes: { scripted: { config: object } } };

function squadIn(bench: RunBench, more: SquadOptions = {}): Squad {
  const { repository: cwd, root } = bench;
  const environment = { PATH: process.env['PATH'], HOME: root, XDG_STATE_HOME: join(root, 'state') };
  const added = { playbooks: { pages: createPagesPlaybook }, runtimes: { mine: createMyRuntime } };
  return createSquad({ cwd, environment, ...added, ...more });
}

describe('a playbook and a runtime from outside', { timeout: 120_000 }, () => {
  it('play a whole run, with the default cast of the playbook’s roles', ALL, async () => {
    const bench = openExample();
    const events: RunEvent[] = [];
    const run = await squadIn(bench).run('objective.md', {
      runtime: 'mine',
      trust: 'yes',
      onEvent: (event) => events.push(event),
    });
    expect(await run.done).toMatchObject({ outcome: 'done', exitCode: 0 });
    expect(bench.fileOnBranch('docs/page-1.md', 'squad/explain-the-parts')).toBe('The engine.');
    expect(bench.fileOnBranch('docs/page-2.md', 'squad/explain-the-parts')).toBe('The ledger.');
    expect(events[0]).toMatchObject({
      type: 'run-started',
      playbook: 'pages',
      agents: [
        { name: 'writer', role: 'writer', runtime: 'mine' },
        { name: 'critic', role: 'critic', runtime: 'mine' },
      ],
    });
  });

  it('are missed by name before a run continues without them, and the run then continues with them', ALL, async () => {
    const bench = openExample();
    const whole = squadIn(bench);
    const started = await whole.run('objective.md', { runtime: 'mine', trust: 'yes' });
    await started.cancel('the program ends');
    await started.done;
    const before = [await whole.status(), git(bench.repository, 'for-each-ref')];
    await expect(squadIn(bench, { playbooks: {} }).resume()).rejects.toMatchObject({
      code: 'wrong-environment',
      message: 'run explain-the-parts needs the playbook pages, which is not registered here',
    });
    await expect(squadIn(bench, { runtimes: {} }).resume()).rejects.toMatchObject({
      code: 'wrong-environment',
      message: 'run explain-the-parts needs the runtime mine, which is not registered here',
      next: expect.stringContaining('`squad switch RUNTIME --agent writer`; `squad doctor` says which are there'),
    });
    const shown = await bench.run(['resume']);
    expect(shown.code).toBe(78);
    expect(shown.stderr).toContain('needs the playbook pages, which is not registered here');
    expect([await whole.status(), git(bench.repository, 'for-each-ref')]).toEqual(before);
    const resumed = await whole.resume();
    expect(await resumed.done).toMatchObject({ outcome: 'done' });
  });
});

describe('a run whose runtime is missing', { timeout: 120_000 }, () => {
  it('continues once the operator has given its agents another one', ALL, async () => {
    const bench = openExample();
    const without = squadIn(bench, { runtimes: {} });
    const started = await squadIn(bench).run('objective.md', { runtime: 'mine', trust: 'yes' });
    await started.cancel('the program ends');
    await started.done;
    for (const agent of ['writer', 'critic']) {
      await expect(without.resume()).rejects.toMatchObject({ code: 'wrong-environment' });
      await without.intervene(undefined, { verb: 'switch', on: `agent/${agent}`, runtime: 'scripted' });
    }
    expect(await (await without.resume()).done).toMatchObject({ outcome: 'done' });
  });
});

it('the playbook has thirty lines', () => {
  const source = readFileSync(path('examples/thirty-line-playbook.ts'), 'utf8');
  const playbook = source.slice(source.indexOf('export function'));
  expect(playbook.trimEnd().split('\n').length).toBeLessThanOrEqual(30);
});
