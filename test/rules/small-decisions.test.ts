import { describe, expect, it } from 'vitest';
import { decideEvidence } from '../../src/rules/evidence.ts';
import { normaliseFindings } from '../../src/model/plan/review.ts';
import { decideLimits } from '../../src/model/spending.ts';
import { decideLiveness, type Activity } from '../../src/rules/liveness.ts';
import { decideReview, reviewProblem, type ReviewPart } from '../../src/rules/review.ts';
import { DEFAULT_PLAN_LIMITS } from '../../src/model/plan/board.ts';
import type { EvidenceFacts, SideCommit } from '../../src/model/plan/evidence.ts';
import type { Requirement } from '../../src/model/plan/task.ts';
import type { RoundRecord } from '../../src/model/plan/round-record.ts';
import { FACTS } from './support.ts';
import type { Finding } from '../../src/model/plan/review.ts';
import { finding } from '../support/findings.ts';

describe('decideEvidence', () => {
  const pr = { url: 'u', commit: 'c1', open: true };
  const seen = (...problems: string[]) => ({ path: 'x', sha256: 'f00', bytes: 1, problems });
  const side = (kind: SideCommit['kind'], name = 'x'): SideCommit => ({ kind, name, commit: 'abc', ref: 'r' });
  it.each<[string, Requirement, Partial<EvidenceFacts>, string[]]>([
    ['commit', { kind: 'commit' }, {}, []],
    ['no commit', { kind: 'commit' }, { commits: 0 }, ['no commit was made']],
    ['left behind', { kind: 'commit' }, { uncommitted: ['a'] }, ['changes are not committed: a']],
    [
      'paths that git refuses, first of all',
      { kind: 'commit' },
      { changedPaths: ['a', '.Git/config', 'sub/../x'], uncommitted: ['a'] },
      [
        'git checks out no commit with these paths: .Git/config, sub/../x; make the commit anew without them',
        'changes are not committed: a',
      ],
    ],
    [
      'names that the disk did not take',
      { kind: 'commit' },
      { uncommitted: [`d/${'汉'.repeat(86)}`], changedPaths: ['.gitignore', 'git~1', '.git.md', 'x'.repeat(256)] },
      [`no disk takes these long names: d/${'汉'.repeat(78)}…; make the commit anew without them`],
    ],
    ['diff', { kind: 'diff' }, {}, []],
    [
      'only what git ignores',
      { kind: 'diff' },
      {
        changedPaths: [],
        ignored: { paths: ["it's.txt", 'a.txt'].map((path) => ({ path, by: 'info/exclude' })), more: 3 },
      },
      [
        'no file was changed',
        String.raw`it's.txt was written, but info/exclude ignores it: ${'`'}git add -f -- 'it'\''s.txt'${'`'}`,
        'a.txt was written, but info/exclude ignores it: `git add -f a.txt`',
        '3 more paths were written that git ignores',
      ],
    ],
    [
      'ignored files beside all that is needed',
      { kind: 'diff' },
      { ignored: { paths: [{ path: 'a.txt', by: '.gitignore' }], more: 0 } },
      [],
    ],
    ['nothing that could be looked at', { kind: 'diff' }, { problem: 'unreadable' }, ['unreadable']],
    ['no diff', { kind: 'diff' }, { changedPaths: [] }, ['no file was changed']],
    [
      'a commit on a branch',
      { kind: 'commit' },
      { commits: 0, side: { kept: [side('branch', 'mine')] } },
      ['HEAD has no commit of this task', 'a commit was made on the branch `mine`; HEAD does not have it'],
    ],
    [
      'stashes, and more than is kept',
      { kind: 'diff' },
      { changedPaths: [], side: { kept: [side('stash'), side('stash')], missed: '3 more commits' } },
      ['HEAD has no change', 'work is in 2 stashes; HEAD does not have it', 'squad does not keep 3 more commits'],
    ],
    [
      'what only a log names, without a commit',
      { kind: 'commit' },
      { commits: 0, side: { kept: [side('log')] } },
      ['HEAD has no commit of this task', 'the commit abc was made, and no branch has it; HEAD does not have it'],
    ],
    [
      'what only a log names, beside a commit',
      { kind: 'file', path: 'x' },
      { side: { kept: [side('log')] } },
      ['x does not exist'],
    ],
    [
      'many others',
      { kind: 'file', path: 'x' },
      {
        side: {
          kept: ['tag', 'worktree', 'ref', 'branch', 'branch', 'branch', 'branch'].map((kind) =>
            side(kind as 'tag', 'n'),
          ),
        },
      },
      [
        'x does not exist',
        'the tag `n` names a commit; HEAD does not have it',
        'the commit abc was made in a worktree of the folder; HEAD does not have it',
        '`n` names the commit abc; HEAD does not have it',
        'a commit was made on the branch `n`; HEAD does not have it',
        'a commit was made on the branch `n`; HEAD does not have it',
        'HEAD does not have 2 other commits either',
      ],
    ],
    ['side work beside all that is needed', { kind: 'commit' }, { side: { kept: [side('branch')] } }, []],
    [
      'a folder that cannot be read, with a branch',
      { kind: 'commit' },
      { problem: 'unreadable', commits: 0, side: { kept: [side('branch', 'mine')] } },
      ['unreadable', 'a commit was made on the branch `mine`; HEAD does not have it'],
    ],
    ['files that cannot be read', { kind: 'commit' }, { unread: 'x' }, []],
    [
      'files that cannot be read, where something is missing',
      { kind: 'file', path: 'x' },
      { unread: 'it is too large' },
      ['x does not exist', 'the files in the folder cannot be read: it is too large'],
    ],
    ['diff within', { kind: 'diff', paths: ['src/'] }, {}, []],
    ['only these', { kind: 'only', paths: ['src'] }, {}, []],
    ['only of that ending', { kind: 'only', paths: ['*.ts', 'docs'] }, {}, []],
    [
      'others too',
      { kind: 'only', paths: ['*.md', 'docs'] },
      { changedPaths: ['a.md', 'docs/a.txt', 'docs.ts', 'x.mdx'] },
      ['only *.md, docs may change, but these files did: docs.ts, x.mdx'],
    ],
    ['diff beside', { kind: 'diff', paths: ['sr'] }, {}, ['nothing was changed in sr']],
    ['file', { kind: 'file', path: 'x' }, { files: ['x'] }, []],
    ['no file', { kind: 'file', path: 'x' }, {}, ['x does not exist']],
    ['document', { kind: 'document', path: 'x', headings: [] }, { documents: [seen()] }, []],
    ['an unread document', { kind: 'document', path: 'x', headings: [] }, {}, ['x was not read']],
    ['a bad document', { kind: 'document', path: 'x', headings: ['A'] }, { documents: [seen('p', 'q')] }, ['p', 'q']],
    ['absent', { kind: 'absent', path: 'x' }, {}, []],
    ['left there', { kind: 'absent', path: 'x' }, { files: ['x'] }, ['x still exists; remove it']],
    ['command', { kind: 'command', run: 't' }, { commands: [{ run: 't', passed: true, output: '' }] }, []],
    ['command not run', { kind: 'command', run: 't' }, {}, ['`t` was not run']],
    [
      'a criterion’s that cannot run',
      { kind: 'command', run: 't', ofCriterion: true },
      { commands: [{ run: 't', passed: false, output: 'o', cannotRun: 'sh: 1: t: not found' }] },
      [],
    ],
    [
      'a list’s own that cannot run',
      { kind: 'command', run: 't' },
      { commands: [{ run: 't', passed: false, output: 'o', cannotRun: 'sh: 1: t: not found' }] },
      ['`t` fails:\no'],
    ],
    ['red', { kind: 'command', run: 't' }, { commands: [{ run: 't', passed: false, output: 'o' }] }, ['`t` fails:\no']],
    ['pr', { kind: 'pr' }, { pr }, []],
    ['no pr', { kind: 'pr' }, {}, ['no pull request was opened']],
    ['closed pr', { kind: 'pr' }, { pr: { ...pr, open: false } }, ['u is not open']],
    ['old pr', { kind: 'pr' }, { pr: { ...pr, commit: 'c0' } }, ['u is at c0, not at c1']],
  ])('%s', (_title, requirement, facts, missing) => {
    const answer = decideEvidence({ requires: [requirement], judged: true, returned: null }, { ...FACTS, ...facts });
    expect(answer).toEqual(missing.length === 0 ? { ok: true, commit: 'c1' } : { ok: false, missing });
  });

  it('needs something to judge, and something new after feedback', () => {
    const owes = { requires: [], judged: true, returned: null };
    expect(decideEvidence(owes, { ...FACTS, commit: null })).toMatchObject({ ok: false });
    expect(decideEvidence({ ...owes, returned: 'c1' }, FACTS)).toMatchObject({ ok: false });
    expect(decideEvidence(owes, { ...FACTS, altered: ['a.txt'] })).toMatchObject({ ok: false });
    expect(decideEvidence(owes, { ...FACTS, altered: [] })).toMatchObject({ ok: true });
    expect(decideEvidence({ ...owes, judged: false }, { ...FACTS, commit: null })).toEqual({ ok: true, commit: null });
  });
});

describe('normaliseFindings', () => {
  it.each([
    [['No test in src/a.ts:14!', 'no TEST in  src/a.ts:99'], ['no test in src a ts']],
    [
      ['b', 'a', '  '],
      ['a', 'b'],
    ],
    [['Fails on line 12', 'fails on lines 3-4'], ['fails on']],
    [['错误处理'], ['错误处理']],
  ])('%j', (texts, expected) => {
    expect(normaliseFindings(texts)).toEqual(expected);
  });
});

describe('decideReview', () => {
  const yes = { approved: true, summary: 'ok', findings: [], checks: [], settled: [] };
  const no = (wrong: string, blocks: Finding['blocks'] = 'criterion') => ({
    approved: false,
    summary: 'no',
    findings: [finding(wrong, { blocks, criterion: blocks === 'criterion' ? 'C1' : null })],
    checks: [],
    settled: [],
  });
  const part = (role: string, answer: ReviewPart['answer'], state: ReviewPart['state'] = 'answered'): ReviewPart => ({
    role,
    agent: role,
    state,
    answer,
  });
  const all = { by: ['r', 's'], quorum: 'all', rounds: 4, criteria: ['works'] } as const;
  const policy = (quorum: 'all' | 'any') => ({ ...all, by: [...all.by], criteria: [...all.criteria], quorum });
  const before: RoundRecord = { round: 1, commit: 'c0', approved: false, feedback: '', findings: ['old'], by: [] };

  it.each<[string, 'all' | 'any', ReviewPart[], RoundRecord[], object]>([
    ['all yes', 'all', [part('r', yes), part('s', yes)], [], { do: 'approve' }],
    ['all waits for the last', 'all', [part('r', no('x')), part('s', null, 'pending')], [], { do: 'wait' }],
    ['one no', 'all', [part('r', yes), part('s', no('x'))], [], { do: 'reject', findings: ['x'] }],
    ['silence is no yes', 'all', [part('r', yes), part('s', null, 'failed')], [], { do: 'give-up' }],
    ['a no counts beside silence', 'all', [part('r', no('x')), part('s', null, 'failed')], [], { do: 'reject' }],
    ['any yes', 'any', [part('r', yes), part('s', null, 'pending')], [], { do: 'approve' }],
    ['any waits', 'any', [part('r', no('x')), part('s', null, 'pending')], [], { do: 'wait' }],
    ['any all no', 'any', [part('r', no('x')), part('s', no('y'))], [], { do: 'reject', findings: ['x', 'y'] }],
    ['nobody', 'any', [part('r', null, 'failed'), part('s', null, 'failed')], [], { do: 'give-up' }],
    ['no slots', 'all', [], [], { do: 'give-up' }],
    ['first: beyond the criteria counts', 'all', [part('r', no('new', 'defect'))], [], { do: 'reject' }],
    [
      'later: it is for later',
      'all',
      [part('r', no('new', 'defect'))],
      [before],
      {
        do: 'approve',
        overruled: true,
        followUps: ['new. Proof: tried'],
        by: [{ role: 'r', agent: 'r', approved: false }],
      },
    ],
    ['later: beside a yes', 'all', [part('r', no('new', 'defect')), part('s', yes)], [before], { overruled: true }],
    ['later: a yes is enough', 'any', [part('r', no('new', 'defect')), part('s', yes)], [before], { overruled: false }],
    ['later: beside a no', 'any', [part('r', no('new', 'defect')), part('s', no('x'))], [before], { do: 'reject' }],
    ['later: waits', 'any', [part('r', no('new', 'defect')), part('s', null, 'pending')], [before], { do: 'wait' }],
    [
      'later: beside silence',
      'all',
      [part('r', no('new', 'defect')), part('s', null, 'failed')],
      [before],
      { do: 'give-up' },
    ],
    [
      'later: the fix broke it',
      'all',
      [part('r', no('new', 'new-harm'))],
      [before],
      { do: 'reject', findings: ['new'] },
    ],
    [
      'after an approval alone: counts, since nobody has named what to look for',
      'all',
      [part('r', no('new', 'defect'))],
      [{ ...before, approved: true, findings: [] }],
      { do: 'reject' },
    ],
    ['later: said before', 'all', [part('r', no('Old!', 'defect'))], [before], { do: 'reject', converging: false }],
    [
      'later: said before the last approval',
      'all',
      [part('r', no('old'))],
      [before, { ...before, round: 2, approved: true, findings: [] }],
      { do: 'reject', converging: true },
    ],
    ['later: a criterion', 'all', [part('r', no('new'))], [before], { do: 'reject', converging: true }],
  ])('%s', (_title, quorum, parts, earlier, expected) => {
    expect(decideReview(policy(quorum), parts, earlier)).toMatchObject(expected);
  });

  it('wants a reason for a no', () => {
    expect(reviewProblem({ ...yes, approved: false })).toBeDefined();
    expect(reviewProblem(no('x', 'defect'))).toBeUndefined();
    expect(reviewProblem(yes)).toBeUndefined();
  });
});

describe('decideLiveness', () => {
  const GATE = { ms: 120_000, fallbacks: DEFAULT_PLAN_LIMITS.stallFallbacks };
  const quiet: Activity = {
    spawnedAt: 1_000,
    lastSignAt: null,
    firstToolAt: null,
    stalledAt: null,
    quietSince: null,
    stalls: 0,
  };
  it.each<[string, Partial<Activity>, number, object]>([
    ['not spawned', { spawnedAt: null }, 9e9, { do: 'nothing' }],
    ['within the window', {}, 120_999, { do: 'nothing' }],
    ['past it', {}, 121_000, { do: 'stall', why: 'no tool for 120 s', since: 1_000 }],
    ['a sign of life begins it anew', { lastSignAt: 50_000 }, 121_000, { do: 'nothing' }],
    ['a tool ends it', { firstToolAt: 5 }, 9e9, { do: 'nothing' }],
    ['a tool clears a stall', { firstToolAt: 5, stalledAt: 6 }, 9e9, { do: 'clear-stall', why: 'its tool came' }],
    [
      'a tool says how long it was waited for',
      { firstToolAt: 5, stalledAt: 121_000, quietSince: 1_000 },
      125_540,
      { do: 'clear-stall', why: 'its tool came after 124.5 s' },
    ],
    [
      'a sign says so too',
      { stalledAt: 121_000, quietSince: 1_000, lastSignAt: 125_000 },
      125_600,
      { do: 'clear-stall', why: 'a sign of life came after 124 s' },
    ],
    ['a sign that may be a tool', { stalledAt: 121_000, lastSignAt: 125_000 }, 125_400, { do: 'nothing' }],
    ['a sign clears a stall', { stalledAt: 121_000, lastSignAt: 121_001, stalls: 1 }, 130_000, { do: 'clear-stall' }],
    ['grace', { stalledAt: 121_000, stalls: 1 }, 200_000, { do: 'nothing' }],
    ['first fallback', { stalledAt: 121_000, stalls: 1 }, 241_000, { do: 'fall-back', fallback: 'retry' }],
    ['second', { stalledAt: 121_000, stalls: 2 }, 241_000, { do: 'fall-back', fallback: 'workspace-reset' }],
    ['last', { stalledAt: 121_000, stalls: 9 }, 241_000, { do: 'fall-back', fallback: 'fail' }],
  ])('%s', (_title, activity, now, expected) => {
    expect(decideLiveness({ ...quiet, ...activity }, 'author', now, GATE)).toMatchObject(expected);
  });

  it('asks nothing of turns that need no tool', () => {
    expect(decideLiveness(quiet, 'author-without-files', 9e9, GATE)).toEqual({ do: 'nothing' });
  });
});

describe('decideLimits', () => {
  const used = { turns: 5, tokens: 100, usd: 1.5 };
  it.each([
    [{}, { reached: false }],
    [{ minutes: 2 }, { reached: false }],
    [{ minutes: 1 }, { reached: true, why: '1m00s of 1m00s used' }],
    [{ turns: 5 }, { reached: true, why: '5 of 5 turns used' }],
    [{ turns: 6 }, { reached: false }],
    [{ tokens: 100 }, { reached: true, why: '100 of 100 tokens used' }],
    [{ usd: 1.5 }, { reached: true, why: 'USD 1.50 of 1.50 used' }],
  ])('%j', (caps, expected) => {
    expect(decideLimits(used, caps, 60_000)).toMatchObject(expected);
  });
});
