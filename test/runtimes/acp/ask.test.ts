import { mkdtempSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHost, type HostRun } from '../../support/acp-host.ts';

const UNKNOWN = { ask: { kind: 'other', title: 'Leave plan mode', rawInput: { plan: 'all of it' } } };

function start(deadlineMs: number, ...steps: object[]): HostRun {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'squad-ask-'));
  return startHost({ turns: [{ steps: [...steps, { say: 'done' }] }] }, { ask: { folder, deadlineMs } }, { folder });
}

function answer(run: HostRun, n: number, text: string): void {
  const path = join(run.folder, `answer-${n}.json`);
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}

const permissions = (run: HostRun) => run.lines.filter(({ type }) => type === 'permission');

describe('a question to a person', () => {
  it.each<[string, string, object]>([
    ['yes', '{"allow": true}', { answer: 'allowed', by: 'person' }],
    ['no', '{"allow": false}', { answer: 'rejected', by: 'person' }],
    ['another yes', '{"allow": "true"}', { answer: 'rejected', by: 'person' }],
    ['half an answer', '{"allow": tr', { answer: 'rejected', by: 'person' }],
    ['nothing', '', { answer: 'rejected', by: 'person' }],
  ])('is answered with %s', async (_word, text, wanted) => {
    const run = start(60_000, UNKNOWN);
    const asked = await run.seen(({ type }) => type === 'ask');
    expect(asked).toMatchObject({ n: 1, tool: 'Leave plan mode' });
    const file = JSON.parse(readFileSync(join(run.folder, 'ask-1.json'), 'utf8')) as object;
    expect(file).toMatchObject({
      n: 1,
      tool: 'Leave plan mode',
      input: { plan: 'all of it' },
      deadline: asked['deadline'],
    });
    answer(run, 1, text);
    await run.ended;
    expect(permissions(run)).toMatchObject([wanted]);
  });

  it('is rejected after its deadline', async () => {
    const run = start(400, UNKNOWN);
    await run.ended;
    expect(permissions(run)).toMatchObject([{ answer: 'rejected', by: 'deadline' }]);
  });

  it('is not for what a rule rejects', async () => {
    const run = start(60_000, { ask: { kind: 'edit', locations: [{ path: '/etc/passwd' }] } });
    await run.ended;
    expect(run.lines.filter(({ type }) => type === 'ask')).toEqual([]);
    expect(permissions(run)).toMatchObject([{ answer: 'rejected', by: 'policy' }]);
  });

  it('is cancelled with the turn', async () => {
    const run = start(60_000, UNKNOWN);
    await run.seen(({ type }) => type === 'ask');
    run.child.kill('SIGINT');
    const { last } = await run.ended;
    expect(last).toMatchObject({ type: 'result', stopReason: 'cancelled' });
    expect(permissions(run)).toMatchObject([{ answer: 'cancelled' }]);
  });

  it('waits beside others, each with an answer of its own', async () => {
    const run = start(60_000, { ...UNKNOWN, wait: false }, { ...UNKNOWN, wait: false }, { sleep: 60_000 });
    await run.seen(({ type, n }) => type === 'ask' && n === 2);
    answer(run, 2, '{"allow": true}');
    await run.seen(({ type }) => type === 'permission');
    answer(run, 1, '{"allow": false}');
    await run.seen(({ type, answer: given }) => type === 'permission' && given === 'rejected');
    run.child.kill('SIGINT');
    await run.ended;
    expect(permissions(run)).toMatchObject([{ answer: 'allowed' }, { answer: 'rejected' }]);
  });
});
