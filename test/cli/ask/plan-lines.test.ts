import { describe, expect, it } from 'vitest';
import { planFile, readPlanFile, withProblems } from '../../../src/cli/ask/plan-file.ts';
import { planLines } from '../../../src/cli/ask/plan-lines.ts';
import { widthOf } from '../../../src/cli/render/cells.ts';
import { PLAIN } from '../../../src/cli/render/style.ts';
import type { ReviewPolicy } from '../../../src/model/plan/task.ts';
import { workTask } from '../../../src/playbooks/shared/tasks.ts';
import { definition } from '../../view/report/support.ts';

const HOSTILE = 'a\u001b]0;owned\u0007b\u202ec\u001b[2J';

const review: ReviewPolicy = { by: ['reviewer'], quorum: 'all', rounds: 4, criteria: ['it is there'] };
const task = workTask(
  { id: 'login', title: 'Add the login form', role: 'builder', brief: 'Build it.\n\nDone means:\n- it is there' },
  { review, requires: [{ kind: 'file', path: 'src/login.ts' }] },
);
const PLAN = { summary: 'One form.', tasks: [task, { ...task, id: 'tests', needs: ['login'] }], criteria: [] };

function shown(plan: Parameters<typeof planLines>[0], more: Partial<Parameters<typeof planLines>[1]> = {}): string {
  const run = definition();
  const about = { definition: run, limits: run.limits, estimate: null, columns: 80, style: PLAIN };
  return planLines(plan, { ...about, ...more }).join('\n');
}

describe('a plan at the terminal', () => {
  it('says who does what, on what it builds, and what its review checks', () => {
    const text = shown(PLAN);
    expect(text).toMatch(/^Plan of \S+: 2 tasks\nOne form\.\n/);
    expect(text).toContain('1. login  Add the login form');
    expect(text).toMatch(/who {4}builder: \S+ \(\S+/);
    expect(text).toMatch(/review \S+ \(/);
    expect(text).toContain('needs  nothing, so it starts at once');
    expect(text).toContain('needs  login');
    expect(text).toContain('files  src/login.ts');
    expect(text).toContain('    Build it.\n    - it is there');
    expect(text.match(/it is there/g)).toHaveLength(2);
  });

  it('ends with what has changed since the plan before, so that the question stands below it', () => {
    const was = {
      ...task,
      id: 'login',
      title: 'Add a form',
      brief: { text: 'Build it.\nBe quick.' },
      needs: ['tests'],
    };
    const before = { ...PLAN, tasks: [was, { ...task, id: 'docs' }], criteria: [{ text: 'old' }] };
    const text = shown({ ...PLAN, criteria: [{ text: `new${HOSTILE}` }], before });
    const [, changed = ''] = text.split('Changed since the plan before\n');
    expect(changed.split('\n')).toEqual([
      '    ~ login title: Add a form → Add the login form',
      '    ~ login needs: tests → none',
      '    ~ login brief:',
      '        - Be quick.',
      expect.stringMatching(/^ {8}\+ Done means:$/),
      expect.stringMatching(/^ {8}\+ - it is there$/),
      '    + tests: Add the login form',
      '    - docs: Add the login form',
      expect.stringMatching(/^ {4}\+ criterion: new/),
      '    - criterion: old',
    ]);
    expect(text).not.toContain('\u001b');
    expect(shown({ ...PLAN, before: PLAN })).toMatch(/Changed since the plan before\n {4}nothing$/);
    expect(shown(PLAN)).not.toContain('Changed since');
  });

  it('names criteria and commands, the proposed ones as such', () => {
    const criteria = [{ text: 'tests pass', command: 'npm test' }, { text: 'reads well' }];
    const text = shown({ ...PLAN, criteria });
    expect(text).toContain('tests pass (proposed; run: npm test)');
    expect(text).toContain('reads well (proposed; judged by a reviewer)');
    expect(text).toContain('criterion, proposed: npm test');
  });

  it('says what it may take, by earlier runs', () => {
    const estimate = { runs: 7, turns: { median: 4.5, p90: 9 }, minutes: { median: 1.5, p90: 62 }, atLeast: false };
    const known = shown(PLAN, { estimate: { ...estimate, usd: { median: 0.5, p90: 3 } } });
    const [, lines = ''] = known.split('Estimate\n');
    expect(lines.split('\n').slice(0, 3)).toEqual([
      '    median           4.5 turns, 1m30s of engine time, USD 0.50',
      '    90th percentile  9 turns, 1h02m of engine time, USD 3.00',
      '    from the last 7 runs of delivery that ended as done here',
    ]);
    expect(shown(PLAN, { estimate: { ...estimate, atLeast: true, usd: { median: 0.5, p90: 3 } } })).toContain(
      'USD 3.00+',
    );
    expect(shown(PLAN, { estimate: { ...estimate, atLeast: true, usd: null } })).toContain('engine time, cost unknown');
    expect(shown(PLAN)).toMatch(/Estimate\n {4}no estimate: fewer than 3 runs of delivery/);
  });

  it('says what it may cost at most', () => {
    expect(shown(PLAN)).toMatch(/At most\n {4}USD \S+, \d+ turns, \S+ of\s+engine time/);
  });

  it.each([40, 80, 200])('stays within %i columns and shows nothing raw', (columns) => {
    const wide = { ...task, title: `${HOSTILE} ${'宽'.repeat(80)}`, brief: { text: `${HOSTILE}\n${'x'.repeat(500)}` } };
    const text = shown({ summary: HOSTILE, note: HOSTILE, tasks: [wide], criteria: [{ text: HOSTILE }] }, { columns });
    expect(text).not.toMatch(/[\u001b\u0007\u202e]/);
    expect(Math.max(...text.split('\n').map(widthOf))).toBeLessThanOrEqual(columns);
  });
});

describe('the file of a plan', () => {
  const plan = { summary: 'Two\nlines', tasks: [{ id: 'a', needs: [], brief: 'x: y # z\n- no list' }], criteria: [] };

  it('is read as it was written', () => {
    const file = planFile(plan);
    expect(file).toMatch(/^# The plan\./);
    expect(readPlanFile(file)).toEqual({ ok: true, plan });
    expect(readPlanFile(JSON.stringify(plan))).toEqual({ ok: true, plan });
  });

  it('has no invisible character', () => {
    expect(planFile({ summary: HOSTILE })).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  it('has problems at its top, only the latest ones, and they are comments', () => {
    const twice = withProblems(withProblems(planFile(plan), ['first']), ['second', HOSTILE]);
    expect(twice.split('\n').slice(0, 2)).toEqual(['#! This plan cannot be used:', '#! second']);
    expect(twice).not.toContain('first');
    expect(twice).not.toContain('\u001b');
    expect(readPlanFile(twice)).toEqual({ ok: true, plan });
  });

  it.each([
    ['', undefined],
    ['# only\n  # comments\n\n', undefined],
    ['tasks: [', expect.objectContaining({ ok: false, problems: [expect.stringMatching(/^line \d+: /)] })],
    ['- a list', expect.objectContaining({ ok: false })],
  ])('%j', (text, read) => {
    expect(readPlanFile(text)).toEqual(read);
  });
});
