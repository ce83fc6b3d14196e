import { describe, expect, it } from 'vitest';
import { renderStatus } from '../../src/cli/render/status-board.ts';
import type { RunDefinition } from '../../src/model/run.ts';
import { resumeCommand } from '../../src/view/next-commands.ts';
import { runStatusSchema, statusOf, type RunStatus } from '../../src/view/status.ts';
import { viewOf } from '../../src/view/view-of.ts';
import { stuckTasksOf } from '../../src/view/stuck-tasks.ts';
import { unfinishedOf } from '../../src/view/unfinished.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { result, usage } from '../substrate/ledger/support.ts';
import { definition, play, RecordedRun } from './report/support.ts';
import { renderReport } from './report/render-report.ts';

/** Bob is on codex, and may take two turns; each task may cost 1.5. */
function limited(): RunDefinition {
  const about = definition();
  const agents = about.agents.map((agent) =>
    agent.name === 'bob' ? { ...agent, runtime: 'codex' as const, limits: { turns: 2, usd: 3 } } : agent,
  );
  return { ...about, agents, limits: { ...about.limits, task: { usd: 1.5 } } };
}

function ran(run: RecordedRun, task: string, number: number, agent: string, ended: Partial<TurnResult>): void {
  run.turn(task, number, agent);
  const id = `tidy.${task}-${number}`;
  run.ledger.markSpawned(run.lease, id, { pid: 4_000_000, startTime: '1', bootId: 'b', marker: id }, 5);
  run.ledger.settle(run.lease, id, result(ended));
}

function recorded(): RecordedRun {
  const about = limited();
  const run = new RecordedRun(about).allocate().plan(play(about).entries);
  ran(run, 'a', 1, 'bob', { usage: usage(10, 1) });
  ran(run, 'a', 2, 'bob', {});
  return run;
}

function statusFrom(run: RecordedRun): RunStatus {
  return runStatusSchema.parse(JSON.parse(JSON.stringify(statusOf(viewOf(run.read(), { now: run.clock.time })))));
}

describe('limits', () => {
  it('are shown with what is used of each, and what of that is a guess', () => {
    const { caps } = statusFrom(recorded());
    expect(caps.filter(({ level }) => level !== 'run')).toEqual([
      { level: 'agent', name: 'bob', limit: 'turns', used: 2, most: 2, reached: true, unknownTurns: 0, blind: [] },
      {
        level: 'agent',
        name: 'bob',
        limit: 'usd',
        used: 2,
        most: 3,
        reached: false,
        unknownTurns: 1,
        blind: ['codex'],
      },
      { level: 'task', name: 'a', limit: 'usd', used: 2, most: 1.5, reached: true, unknownTurns: 1, blind: [] },
    ]);
    expect(caps.filter(({ level }) => level === 'run')).toMatchObject([
      { limit: 'minutes', most: 60, reached: false },
      { limit: 'turns', used: 2, most: 200 },
      { limit: 'usd', used: 2, most: 20, unknownTurns: 1, blind: ['codex'] },
    ]);
  });

  it('are lines for people', () => {
    const run = recorded();
    const text = renderStatus(statusFrom(run), run.clock.time);
    expect(text).toContain('run: 0s of 1h00m · 2 of 200 turns · USD 2.00 of 20.00\n');
    expect(text).toContain('agent bob: 2 of 2 turns (reached) · USD 2.00 of 3.00\n');
    expect(text).toContain('    1 turn did not report cost; each counts as the largest known turn of its runtime\n');
    expect(text).toContain('    codex does not report cost, so the USD limit cannot stop it\n');
    expect(text).toContain('task a: USD 2.00 of 1.50 (reached)\n');
  });

  it('are not shown as unused if no turn has reported its use', () => {
    const about = limited();
    const run = new RecordedRun(about).allocate().plan(play(about).entries);
    ran(run, 'a', 1, 'bob', {});
    const text = renderStatus(statusFrom(run), run.clock.time);
    expect(text).toContain('USD unknown of 20.00\n');
    expect(renderReport(run.read(), run.clock.time)).toContain('- The run: USD unknown of 20.00: 1 turn did not');
  });

  it('are in the report, those that were reached with their level', () => {
    const run = recorded();
    const report = renderReport(run.read(), run.clock.time);
    expect(report).toContain('- Agent `bob`: 2 of 2 turns reached\n- Task `a`: USD 2.00 of 1.50 reached\n');
    expect(report).toContain('- The run: USD 2.00 of 20.00: 1 turn did not report cost\n');
    expect(report).toContain(
      '- The run: USD 2.00 of 20.00: codex does not report cost, so the USD limit cannot stop it\n',
    );
    const free = new RecordedRun({ ...definition(), name: 'free' });
    expect(renderReport(free.read(), free.clock.time)).not.toContain('## Limits');
  });
});

describe('a run of 2,000 stages and tasks', () => {
  const numbers = Array.from({ length: 2_000 }, (_, index) => index + 1);
  const shownWith = (base: RunStatus, open: readonly number[]): string[] => {
    const stages = numbers.map((number) => {
      const state = open.includes(number) ? ('live' as const) : ('done' as const);
      return { id: `S-${number}`, title: '', state, by: [], tasks: [`s-${number}`] };
    });
    const tasks = numbers.map((number) => {
      const status = open.includes(number) ? ('live' as const) : ('done' as const);
      return { id: `s-${number}`, title: `S-${number}`, role: 'builder', status, round: 1, attempts: 1 };
    });
    return renderStatus({ ...base, stages, tasks }, 0).split('\n');
  };

  it('is shown on a bounded screen, with what is at work', () => {
    const lines = shownWith(statusFrom(recorded()), [7, 1_999]);
    expect(lines.length).toBeLessThan(300);
    expect(lines.filter((line) => line.includes('live')).map((line) => /[Ss]-\d+/.exec(line)?.[0])).toEqual([
      ...['S-7', 'S-1999', 's-7', 's-1999'],
    ]);
    expect(lines.filter((line) => line.includes('and 1900 more: `squad status --json` lists all'))).toHaveLength(2);
  });
});

describe('a deadline', () => {
  const at = new Date(2026, 4, 6, 19, 0).getTime();
  const due = (): RecordedRun => {
    const about = definition();
    return new RecordedRun({ ...about, objective: { ...about.objective, deadline: at } }).allocate();
  };

  it('is said with the status of the run', () => {
    const status = statusFrom(due());
    const shown = (now: number, more: Partial<RunStatus> = {}): string => renderStatus({ ...status, ...more }, now);
    expect(shown(at - 1)).toContain('  deadline 19:00\n');
    expect(shown(at)).toContain('  deadline 19:00, passed: no turn starts after it\n');
    expect(shown(at, { phase: 'finished' })).toContain('  deadline 19:00\n');
    const past = shown(at, { pastDeadline: 'ada\u001b[2J' });
    expect(past).toContain('  deadline 19:00; turns start after it, because ada says so\n');
  });

  it('that has passed needs a person, and no sweep', () => {
    const run = due();
    run.decide('stop', 'drained by ada');
    run.ledger.releaseLease(run.lease);
    const before = unfinishedOf(run.read(), at - 1);
    expect([before?.need, resumeCommand(run.read(), at - 1)]).toEqual([
      'limited',
      `squad resume ${run.read().row.name}`,
    ]);
    expect(unfinishedOf(run.read(), at)).toMatchObject({ need: 'limited', why: expect.stringContaining('has passed') });
    expect(resumeCommand(run.read(), at)).toMatch(/ --past-deadline$/);
    expect(stuckTasksOf(run.read(), at)[0]).toMatchObject({ task: null, next: [resumeCommand(run.read(), at)] });
    run.ledger.command(run.id, 'past-deadline', {}, 'ada');
    expect(unfinishedOf(run.read(), at)?.need).toBe('answered');
    expect(resumeCommand(run.read(), at)).not.toContain('--past-deadline');
  });
});

describe('a usage limit', () => {
  const HOUR = 3_600_000;
  it('names the account and the moment', () => {
    const run = new RecordedRun(definition()).allocate();
    const base = statusFrom(run);
    const now = new Date(2026, 4, 6, 7, 8).getTime();
    const until = new Date(2026, 4, 6, 19, 0).getTime();
    const shown = (at: number): string =>
      renderStatus({ ...base, waitingFor: { for: 'time', why: 'w', until: at, account: 'claude' } }, now);
    expect(shown(until)).toContain('waiting for claude until 19:00\n');
    expect(shown(until + 24 * HOUR)).toContain('waiting for claude until 2026-05-07 19:00\n');
    const other = { ...base, waitingFor: { for: 'time', why: 'a retry', until, account: null } } as const;
    expect(renderStatus(other, now)).toContain('until 19:00: a retry\n');
    const accounts = [
      { account: 'codex', until, probing: false },
      { account: 'claude', until, probing: true },
    ];
    const working = renderStatus({ ...base, waitingFor: null, accounts }, now);
    expect(working).toContain('codex until 19:00\n  claude: one turn tests whether the limit is over');
  });
});
