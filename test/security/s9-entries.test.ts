// @module-tag all
import { readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formsOf } from '../../src/model/redaction/secret-values.ts';
import { openRunBench, type RunBench } from '../runs/run-bench.ts';
import { APPROVE_ALL, author, commits, objective, piece, plan, type Step } from '../runs/run-script.ts';
import type { Finished } from '../support/engine.ts';
import { git } from '../support/git.ts';
import { tokenSamples } from './tokens.ts';
import { ALL } from '../support/lane.ts';
import { readKept } from '../support/kept-file.ts';
import { stateOf } from '../support/state.ts';

/** Where text comes in. Each has a secret of its own, so that one that is stored says how it came. */
const ENTRIES = [
  'objective',
  'instructions',
  'plan',
  'say',
  'think',
  'tool-input',
  'tool-output',
  'stderr',
  'denied-tool',
  'retry',
  'failure',
  'answer',
  'review',
  'mail-short',
  'mail-long',
  'mail-refused',
  'mail-task',
  'mail-key',
  'mail-by-person',
  'mail-said',
  'question',
  'operators-answer',
  'operators-reason',
  'operators-note',
  'commit-message',
  'file-name',
  'branch-name',
  'check',
  'let-through',
] as const;
type Entry = (typeof ENTRIES)[number];

const TOKEN = tokenSamples()['github token']?.token ?? '';
const SECRETS = Object.fromEntries(ENTRIES.map((entry, index) => [entry, `c4n4ry-${entry}+${index}%z`])) as Record<
  Entry,
  string
>;
/** One is called no secret, and is let through by its name. */
const ENVIRONMENT = Object.fromEntries(
  ENTRIES.map((entry) => [
    entry === 'let-through' ? 'PLAIN' : `CANARY_${entry.replaceAll('-', '_')}_TOKEN`,
    SECRETS[entry],
  ]),
);

/** As it is, and in the forms that the redactor promises. */
function loud(entry: Entry): string {
  const secret = SECRETS[entry];
  const base64 = Buffer.from(`x${secret}y`).toString('base64');
  const hex = Buffer.from(secret).toString('hex');
  return `${secret} ${TOKEN} ${base64} ${hex} ${encodeURIComponent(secret)} ${JSON.stringify({ in: secret })}`;
}

const tool = (name: string, given: Readonly<Record<string, unknown>>): Step => ({
  mcp: 'squad',
  tool: name,
  arguments: given,
});

const STEPS: readonly Step[] = [
  { say: loud('say') },
  { say: '{env:PLAIN}' },
  { think: loud('think') },
  { run: ['/bin/echo', loud('tool-input')] },
  { run: ['/bin/sh', '-c', 'cat "$0"', 'TOOL_OUTPUT'] },
  { stderr: loud('stderr') },
  { deny: loud('denied-tool') },
  { retry: { kind: 'overloaded', message: loud('retry') } },
  tool('send', { to: ['planner'], text: loud('mail-short') }),
  tool('send', { to: ['planner'], text: '{env:PLAIN}' }),
  tool('send', { to: ['planner'], text: `${'long '.repeat(2_000)}${loud('mail-long')}` }),
  tool('send', { to: ['planner'], text: 'x', [SECRETS['mail-refused']]: loud('mail-refused') }),
  tool('send', { to: ['planner'], text: 'x', task_id: SECRETS['mail-task'] }),
  tool('send', { to: [SECRETS['mail-task']], text: 'x' }),
  { run: ['git', 'branch', `canary/${SECRETS['branch-name']}`] },
  { write: { path: `${SECRETS['file-name']}.txt`, text: 'x' } },
  { run: ['git', 'add', '--all'] },
  { run: ['git', 'commit', '--quiet', '--message', loud('commit-message')] },
];

let bench: RunBench;
const ends: Finished[] = [];

beforeAll(async () => {
  const question = {
    to: ['MAIN'],
    question: loud('question'),
    context: loud('question'),
    code_path: 'a.txt#L1',
  };
  bench = openRunBench({
    files: { 'role.md': `# Role\n\n${loud('instructions')}\n` },
    objective: `${objective()}\n## Context\n\n${loud('objective')}\n`,
    script: [],
  });
  const [output, check] = ['tool-output', 'check'].map((name) => {
    const path = join(bench.root, name);
    writeFileSync(path, loud(name as Entry));
    return path;
  });
  const steps = STEPS.map((step) => JSON.parse(JSON.stringify(step).replace('TOOL_OUTPUT', output ?? '')) as Step);
  const script = bench.script({
    turns: [
      plan([
        piece('a', { title: `${SECRETS.plan} ${TOKEN}`, brief: loud('plan'), acceptance: [loud('plan')] }),
        piece('b', { needs: ['a'] }),
      ]),
      author('a', [...steps, tool('ask', question), { answer: 'I wait' }]),
      { when: 'has been answered', steps: [...commits({ 'a.txt': 'a\n' }).slice(0, -1), { answer: loud('answer') }] },
      author('b', [{ fail: { kind: 'bad-request', message: loud('failure') } }]),
      { when: 'single', steps: [{ answer: '{prompt}' }] },
      { ...APPROVE_ALL, structured: { approved: true, summary: loud('review'), findings: [] } },
    ],
  });
  bench.settings({
    agents: [
      { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
      { name: 'builder-1', role: 'builder', runtime: 'scripted', instructions: 'role.md' },
      { name: 'reviewer-1', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
    ],
    runtimes: { scripted: { env: ['PLAIN'], config: { script } } },
    setup: [{ run: `cat ${check}` }],
    verify: [{ run: `cat ${check} && cat ${check} >&2` }],
  });
  const waiting = await bench.runAll([], ENVIRONMENT);
  const [asked] = (waiting.lines.at(-1)?.['questions'] ?? []) as { id: string }[];
  const send = ['mail', 'send', '--action', 'note', '--to', 'planner'];
  ends.push(
    waiting,
    await bench.run([...send, '--body', JSON.stringify({ text: loud('mail-by-person') })], ENVIRONMENT),
    await bench.run([...send, '--summary', 'x', '--key', SECRETS['mail-key']], ENVIRONMENT),
    await bench.run(['mail', 'say', '--as', 'builder-1', loud('mail-said')], ENVIRONMENT),
    await bench.run(['answer', asked?.id ?? '', loud('operators-answer')], ENVIRONMENT),
    await bench.run(['resume', '--json'], ENVIRONMENT),
    await bench.run(['retry', 'b', '--note', loud('operators-note')], ENVIRONMENT),
    await bench.run(['skip', 'b', '--reason', loud('operators-reason')], ENVIRONMENT),
  );
}, 120_000);
afterAll(() => bench.end());

describe('S9: whatever way a secret comes in', () => {
  it('S9: everything was said', () => {
    const output = JSON.stringify(ends.map(({ code, stderr }) => [code, stderr.slice(-600)]));
    expect(
      ends.map(({ code }) => code),
      output,
    ).toEqual([3, 0, 65, 0, 0, 1, 0, 0]);
    const turns = read(join(stateOf(bench.repository), 'turns'));
    for (const entry of ['say', 'mail-long', 'question', 'tool-output', 'let-through'] as const) {
      expect(
        turns.some(([, bytes]) => bytes.includes(SECRETS[entry])),
        entry,
      ).toBe(true);
    }
    // A branch of an agent's stays in its folder.
    expect(git(bench.repository, 'branch', '--list', 'canary/*')).toBe('');
    expect(git(bench.repository, 'ls-tree', '--name-only', 'squad/make-things')).toContain(SECRETS['file-name']);
  });

  it('S9: no byte of the databases, their logs and what lies beside them holds it', () => {
    const kept = keptOf(bench.repository);
    const names = kept.map(([path]) => relative(stateOf(bench.repository), path));
    expect(names).toEqual(expect.arrayContaining(['squad.db', 'checkpoints.db']));
    expect(names.filter((name) => name.startsWith('blobs/'))).not.toEqual([]);
    const leaks = kept.flatMap(([path, bytes]) =>
      [
        ...ENTRIES.flatMap((entry) => formsOf(SECRETS[entry]).map((form) => [entry, form] as const)),
        ['token', TOKEN] as const,
      ]
        .filter(([, form]) => bytes.includes(form))
        .map(([entry]) => `${entry} in ${path.split('/.squad/')[1] ?? path}`),
    );
    expect([...new Set(leaks)]).toEqual([]);
    expect(kept.some(([, bytes]) => bytes.includes('[redacted]'))).toBe(true);
  });

  it('S9: nor does what was printed', () => {
    const printed = ends.map(({ stdout, stderr }) => stdout + stderr).join('\n');
    expect(ENTRIES.filter((entry) => formsOf(SECRETS[entry]).some((form) => printed.includes(form)))).toEqual([]);
  });
});

it('S9: nor does what a remote answers', { ...ALL, timeout: 300_000 }, async (test) => {
  const refusing = openRunBench({
    settings: { publish: { remote: 'origin' } },
    script: [plan([piece('a')]), author('a', commits({ 'a.txt': 'a\n' })), APPROVE_ALL],
  });
  test.onTestFinished(() => refusing.end());
  const bare = join(refusing.root, 'bare.git');
  git(refusing.root, 'init', '-q', '--bare', bare);
  git(refusing.repository, 'remote', 'add', 'origin', 'https://github.com/acme/app.git');
  git(refusing.repository, 'remote', 'set-url', '--push', 'origin', bare);
  writeFileSync(join(bare, 'hooks', 'update'), `#!/bin/sh\necho 'no: ${TOKEN} ${SECRETS.check}' >&2\nexit 1\n`, {
    mode: 0o755,
  });
  const ended = await refusing.runAll([], ENVIRONMENT);
  expect(ended.lines.at(-1)).toMatchObject({
    outcome: 'failed',
    why: expect.stringContaining('no: [redacted] [redacted]'),
  });
  const kept = keptOf(refusing.repository);
  const leaks = kept.filter(([, bytes]) => bytes.includes(TOKEN) || bytes.includes(SECRETS.check));
  expect(leaks.map(([path]) => path)).toEqual([]);
});

/** What squad keeps of runs, but for the raw output of turns, and the agents' own folders. */
function keptOf(repository: string): [path: string, bytes: string][] {
  const directory = stateOf(repository);
  const raw = ['turns', 'work'].map((name) => join(directory, name, '/'));
  return read(directory).filter(([path]) => !raw.some((folder) => path.startsWith(folder)));
}

function read(folder: string): [path: string, bytes: string][] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readKept(path)]);
}
