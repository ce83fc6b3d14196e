import { describe, expect, it } from 'vitest';
import { decideEvidence } from '../../src/rules/evidence.ts';
import type { EvidenceFacts, SideCommit } from '../../src/model/plan/evidence.ts';
import type { Requirement } from '../../src/model/plan/task.ts';
import { FACTS } from './support.ts';

const COMMIT = 'c1000000000000000001';
const FREE: EvidenceFacts = { ...FACTS, commit: COMMIT };

function missing(requires: Requirement[], facts: Partial<EvidenceFacts> = {}, more: object = {}): readonly string[] {
  const answer = decideEvidence({ requires, judged: false, returned: null, ...more }, { ...FREE, ...facts });
  return answer.ok ? [] : answer.missing;
}

const side = (...kept: SideCommit[]): Partial<EvidenceFacts> => ({ side: { kept } });
const one = (kind: SideCommit['kind'], name = kind as string): SideCommit => ({ kind, name, commit: COMMIT, ref: 'r' });
const many = (count: number) => Array.from({ length: count }, (_, index) => `f${index}`);
const command = (more: object = {}) => ({ run: 'npm test', passed: false, output: 'no', ...more });
const COMMAND: Requirement = { kind: 'command', run: 'npm test' };
const document = (path: string, ...problems: string[]) => ({ path, sha256: null, bytes: 0, problems });
const PR = { url: 'https://pr', commit: COMMIT, open: true };

const SUBJECT: Requirement = {
  ...{ kind: 'subject', said: ['proposals', 'commit_subject'] },
  policy: { longest: 20, begins: 'type', types: ['fix'], period: false },
};

describe('the subjects of commits', () => {
  const said = (subject: string | null) => ({ output: { proposals: { commit_subject: subject } } });
  it.each<[string, string[] | undefined, object, string[]]>([
    ['as the policy wants them', ['fix: a', 'fix: b'], said('fix: b'), []],
    ['none, because nothing was committed', undefined, said('fix: b'), []],
    ['that no answer names', ['fix: a'], said(null), []],
    ['that no answer could name', ['fix: a'], { output: null }, []],
    [
      'too long',
      [`fix: ${'x'.repeat(20)}`],
      said(null),
      [
        'the commit “fix: xxxxxxxxxxxxxxxxxxxx” breaks the commit policy: the subject has 25 characters, and at most 20 are allowed. Write its message anew: `git commit --amend`',
      ],
    ],
    [
      'other than the answer says',
      ['fix: a'],
      said('fix: b'),
      ['the answer names the subject “fix: b”, but the commit has “fix: a”: both have to be the same'],
    ],
  ])('are looked at: %s', (_, subjects, more, problems) => {
    expect(missing([SUBJECT], subjects === undefined ? {} : { subjects }, more)).toEqual(problems);
  });
});

describe('what is missing', () => {
  it.each<[string, Requirement[], Partial<EvidenceFacts>, string[]]>([
    ['nothing', [], {}, []],
    ['a commit', [{ kind: 'commit' }], { commits: 0 }, ['no commit was made']],
    [
      'a commit at HEAD',
      [{ kind: 'commit' }],
      { commits: 0, ...side(one('branch', 'mine')) },
      ['HEAD has no commit of this task', 'a commit was made on the branch `mine`; HEAD does not have it'],
    ],
    ['no other commit either', [{ kind: 'commit' }], { commits: 0, ...side() }, ['no commit was made']],
    [
      'the rest of the changes',
      [{ kind: 'commit' }],
      { uncommitted: many(5) },
      ['changes are not committed: f0, f1, f2, f3, f4'],
    ],
    [
      'more than are named',
      [{ kind: 'commit' }],
      { uncommitted: many(7) },
      ['changes are not committed: f0, f1, f2, f3, f4 and 2 more'],
    ],
    ['a change', [{ kind: 'diff' }], { changedPaths: [] }, ['no file was changed']],
    [
      'a change at HEAD',
      [{ kind: 'diff' }],
      { changedPaths: [], side: { kept: [one('log')] } },
      ['HEAD has no change'],
    ],
    ['a change in places', [{ kind: 'diff', paths: ['docs', 'bin'] }], {}, ['nothing was changed in docs, bin']],
    ['not in each of them', [{ kind: 'diff', paths: ['docs', 'src'] }], { changedPaths: ['x', 'src/a.ts'] }, []],
    ['not where all counts', [{ kind: 'diff', paths: ['.'] }], {}, []],
    ['not with slashes at the end', [{ kind: 'diff', paths: ['src//'] }], {}, []],
    [
      'no path that only begins alike',
      [{ kind: 'diff', paths: ['src'] }],
      { changedPaths: ['src2/a'] },
      ['nothing was changed in src'],
    ],
    [
      'a return of what may not change',
      [{ kind: 'only', paths: ['docs', '*.md'] }],
      { changedPaths: ['docs/a', 'b.md', 'src/x'] },
      ['only docs, *.md may change, but these files did: src/x'],
    ],
    [
      'all of it is named',
      [{ kind: 'only', paths: ['docs'] }],
      { changedPaths: many(51) },
      [`only docs may change, but these files did: ${many(50).join(', ')} and 1 more`],
    ],
    [
      'a return of what is not its own',
      [{ kind: 'untouched', paths: ['Docs'], instead: 'Write elsewhere.' }],
      { changedPaths: ['docs/a', 'src/x'] },
      ['these files may not change: docs/a; Write elsewhere.'],
    ],
    ['none of its own', [{ kind: 'untouched', paths: ['docs'], instead: 'x' }], {}, []],
    ['a file', [{ kind: 'file', path: 'a.md' }], {}, ['a.md does not exist']],
    ['not one that is there', [{ kind: 'file', path: 'a.md' }], { files: ['a.md'] }, []],
    ['the end of a file', [{ kind: 'absent', path: 'a.md' }], { files: ['a.md'] }, ['a.md still exists; remove it']],
    ['not of one that is gone', [{ kind: 'absent', path: 'a.md' }], {}, []],
    [
      'what a document lacks',
      [{ kind: 'document', path: 'a.md', headings: [] }],
      { documents: [document('b.md', 'b is bad'), document('a.md', 'a is bad', 'a is short')] },
      ['a is bad', 'a is short'],
    ],
    [
      'a look at it',
      [{ kind: 'document', path: 'a.md', headings: [] }],
      { documents: [document('b.md')] },
      ['a.md was not read'],
    ],
    ['a command', [COMMAND], { commands: [command({ run: 'other', passed: true })] }, ['`npm test` was not run']],
    [
      'one that passes',
      [COMMAND],
      { commands: [command({ run: 'x', passed: true }), command()] },
      ['`npm test` fails:\nno'],
    ],
    ['not one that does', [COMMAND], { commands: [command({ passed: true })] }, []],
    ['one that can run', [COMMAND], { commands: [command({ cannotRun: 'no such file' })] }, ['`npm test` fails:\nno']],
    [
      'not one of a criterion that cannot',
      [{ ...COMMAND, ofCriterion: true }],
      { commands: [command({ cannotRun: 'no such file' })] },
      [],
    ],
    [
      'one of a criterion that fails',
      [{ ...COMMAND, ofCriterion: true }],
      { commands: [command()] },
      ['`npm test` fails:\nno'],
    ],
    ['a pull request', [{ kind: 'pr' }], {}, ['no pull request was opened']],
    ['and why', [{ kind: 'pr' }], { prProblem: 'gh is missing' }, ['no pull request was opened: gh is missing']],
    ['an open one', [{ kind: 'pr' }], { pr: { ...PR, open: false } }, ['https://pr is not open']],
    [
      'one of this work',
      [{ kind: 'pr' }],
      { pr: { ...PR, commit: 'old' } },
      [`https://pr is at old, not at ${COMMIT}`],
    ],
    [
      'of work without a commit',
      [{ kind: 'pr' }],
      { pr: PR, commit: null },
      [`https://pr is at ${COMMIT}, not at this work`],
    ],
    ['not one that is', [{ kind: 'pr' }], { pr: PR }, []],
    [
      'what was handed over',
      [],
      { altered: ['a', 'b'] },
      ['these files differ from the work that was handed over: a, b'],
    ],
    ['all that could not be found out', [{ kind: 'commit' }], { problem: 'git failed' }, ['git failed']],
  ])('%s', (_, requires, facts, expected) => expect(missing(requires, facts)).toEqual(expected));
});

describe('what a commit must be', () => {
  it.each<[string, object, Partial<EvidenceFacts>, string[]]>([
    ['there, where the work is judged', { judged: true }, { commit: null }, ['nothing was changed']],
    ['or else nothing', {}, { commit: null }, []],
    [
      'another one than was sent back',
      { returned: COMMIT },
      {},
      ['nothing was changed since c10000000000 was sent back'],
    ],
    ['whatever was sent back', { returned: 'old' }, {}, []],
  ])('%s', (_, owes, facts, expected) => expect(missing([], facts, owes)).toEqual(expected));

  it('is not missed besides what is missing', () => {
    expect(missing([{ kind: 'diff' }], { commit: null, changedPaths: [] }, { judged: true })).toEqual([
      'no file was changed',
    ]);
    expect(decideEvidence({ requires: [], judged: true, returned: null }, FREE)).toEqual({ ok: true, commit: COMMIT });
  });
});

describe('what HEAD does not have is named with what is missing', () => {
  const not = (text: string) => `${text}; HEAD does not have it`;
  it.each<[string, Partial<EvidenceFacts>, string[]]>([
    ['a stash', side(one('stash')), [not('work is in a stash')]],
    ['stashes', side(one('stash'), one('stash')), [not('work is in 2 stashes')]],
    ['a branch', side(one('branch', 'mine')), [not('a commit was made on the branch `mine`')]],
    ['a tag', side(one('tag', 'v1')), [not('the tag `v1` names a commit')]],
    ['a worktree', side(one('worktree')), [not('the commit c10000000000 was made in a worktree of the folder')]],
    ['a ref', side(one('ref', 'refs/x')), [not('`refs/x` names the commit c10000000000')]],
    [
      'a commit of a log',
      { commits: 0, ...side(one('log')) },
      [not('the commit c10000000000 was made, and no branch has it')],
    ],
    ['none where HEAD has commits', side(one('log')), []],
    [
      'five',
      side(...many(5).map((name) => one('tag', name))),
      many(5).map((name) => not(`the tag \`${name}\` names a commit`)),
    ],
    [
      'and how many more',
      side(...many(7).map((name) => one('tag', name))),
      [
        ...many(5).map((name) => not(`the tag \`${name}\` names a commit`)),
        'HEAD does not have 2 other commits either',
      ],
    ],
    ['what is not kept', { side: { kept: [], missed: 'three refs' } }, ['squad does not keep three refs']],
    ['files that cannot be read', { unread: 'no access' }, ['the files in the folder cannot be read: no access']],
  ])('%s', (_, facts, expected) => {
    expect(missing([{ kind: 'file', path: 'a' }], facts)).toEqual(['a does not exist', ...expected]);
    expect(missing([], { ...facts, problem: 'gone' })).toEqual([
      'gone',
      ...expected.filter((line) => !line.startsWith('the files')),
    ]);
    expect(missing([], facts)).toEqual([]);
  });

  const ignored = (count: number, more: number, path = (n: number) => `f${n}`) => ({
    ignored: { paths: Array.from({ length: count }, (_, n) => ({ path: path(n), by: '.gitignore' })), more },
  });
  const line = (path: string, shown = path) =>
    `${path} was written, but .gitignore ignores it: \`git add -f ${shown}\``;
  it.each<[string, Partial<EvidenceFacts>, string[]]>([
    ['what git ignores', ignored(1, 0), [line('f0')]],
    ['five of them', ignored(5, 0), many(5).map((path) => line(path))],
    [
      'and how many more',
      ignored(7, 3),
      [...many(5).map((path) => line(path)), '5 more paths were written that git ignores'],
    ],
    ['further ones', ignored(1, 1), [line('f0'), '1 more paths were written that git ignores']],
    ['as a shell reads it', ignored(1, 0, () => "it's"), [line("it's", String.raw`-- 'it'\''s'`)]],
    ['no option', ignored(1, 0, () => '-f'), [line('-f', "-- '-f'")]],
    ['a dash at the end is a name', ignored(1, 0, () => 'f-'), [line('f-')]],
  ])('%s', (_, facts, expected) => {
    expect(missing([{ kind: 'file', path: 'a' }], facts)).toEqual(['a does not exist', ...expected]);
  });
});
