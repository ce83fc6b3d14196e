// @module-tag all
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { ALL } from '../support/lane.ts';
import { openRunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry } from './run-script.ts';

const FILE = 'squad/prompts/author/first.md';
/** An author who hears nothing of boats has no turn here. */
const BOATS: Entry = { ...author('greet', commits({ 'greet.txt': 'hello\n' })), when: 'Make it float.' };
/** The planner is an author, too. */
const work = (entry: Entry): Entry[] => [plan([piece('greet')]), entry, APPROVE_ALL];

it(
  'a changed prompt is used, frozen, hashed and shown, and a broken one refuses the start',
  { timeout: 60_000 },
  async () => {
    const login = { ...BOATS, steps: [{ fail: { kind: 'auth', message: 'no login' } }] };
    const bench = openRunBench({ script: work(login) });
    onTestFinished(bench.end);
    const path = join(bench.repository, FILE);
    expect((await bench.run(['prompts', 'eject', 'author', 'first'])).code).toBe(0);
    const ejected = readFileSync(path, 'utf8');
    writeFileSync(path, `${ejected}\nMake it float.\n`);

    const begun = await bench.runAll();
    expect(begun.code, begun.stderr).toBe(3);
    const said = begun.lines.filter(({ type }) => type === 'warning').map(({ text }) => text);
    expect(said).toContainEqual(expect.stringContaining('1 prompt of squad is changed: author/first'));
    const { prompts } = await bench.status();
    expect(prompts).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{12}$/), changed: ['author/first'] });

    // The run has its own copy, which is whole.
    writeFileSync(path, `${ejected}\n{{#boats}}\n`);
    bench.rescript(work(BOATS));
    await bench.run(['answer', 'engine/auth/scripted', 'try again']);
    const resumed = await bench.run(['resume', '--json']);
    expect(resumed.code, resumed.stdout).toBe(0);
    expect(bench.fileOnBranch('greet.txt')).toBe('hello');
    expect((await bench.status()).prompts).toEqual(prompts);
    expect((await bench.run(['status'])).stdout).toContain(`prompts ${prompts.hash}, changed: author/first`);
    expect(await bench.report()).toContain(`Prompts \`${prompts.hash}\`; the repository has changed author/first`);

    const line = ejected.split('\n').length + 1;
    const refused = await bench.run(['run', 'objective.md', '--runtime', 'scripted', '--yes', '--name', 'other']);
    expect(refused.code).toBe(65);
    expect(refused.stderr).toContain(
      `${FILE}:${line}:1: body: the section boats is not closed; end it with {{/boats}}`,
    );
    expect((await bench.run(['plan', 'objective.md', '--prompts', '--yes'])).code).toBe(65);
    expect((await bench.run(['runs', '--json'])).lines).toHaveLength(1);
  },
);

it(
  'changed prompts of mail and of a folder that moved are used, hashed and shown',
  { timeout: 60_000, ...ALL },
  async () => {
    const agent = (name: string, role: string) => ({ name, role, runtime: 'scripted', access: 'edit' });
    const agents = [
      { ...agent('planner', 'planner'), access: 'read-only' },
      ...[agent('builder-1', 'builder'), agent('mason-1', 'mason')],
      { ...agent('reviewer-1', 'reviewer'), access: 'read-only' },
    ];
    const left = { task_id: 'C', summary: 'c is left', files: ['c.txt'], success_criteria: ['c.txt is there'] };
    const handOff = { mcp: 'squad', tool: 'handoff', arguments: { to: ['builder-1'], ...left } };
    const script = [
      plan([piece('a'), piece('b', { role: 'mason', needs: ['a'] })]),
      APPROVE_ALL,
      // The builder's session continues in the folder of another task.
      { when: 'The harbour moved.\n\n# Task mail-', steps: commits({ 'c.txt': 'c\n' }) },
      author('a', commits({ 'a.txt': 'a\n' })),
      author('b', [handOff, ...commits({ 'b.txt': 'b\n' })]),
    ];
    const bench = openRunBench({ script, settings: { agents } });
    onTestFinished(bench.end);
    const words = { 'runtime/moved': 'The harbour moved.', 'mail/hand-off': 'Take the boat over.' };
    for (const [name, text] of Object.entries(words)) {
      expect((await bench.run(['prompts', 'eject', ...name.split('/')])).code).toBe(0);
      appendFileSync(join(bench.repository, `squad/prompts/${name}.md`), `${text}\n`);
    }
    const done = await bench.runAll();
    expect(done.code, done.stdout).toBe(0);
    expect(bench.fileOnBranch('c.txt')).toBe('c');
    const open = bench.ledger();
    const requests = open.attempts({}).map(({ request }) => request);
    open.close();
    expect(requests.filter((one) => one.includes('Take the boat over.')).length).toBeGreaterThan(0);
    const changed = Object.keys(words).toSorted();
    const { prompts } = await bench.status();
    expect(prompts).toEqual({ hash: expect.stringMatching(/^[0-9a-f]{12}$/), changed });
    const names = changed.join(', ');
    expect((await bench.run(['status'])).stdout).toContain(`prompts ${prompts.hash}, changed: ${names}`);
    expect(await bench.report()).toContain(`Prompts \`${prompts.hash}\`; the repository has changed ${names}`);
  },
);
