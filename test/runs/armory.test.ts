// @module-tag all
import { stateOf } from '../support/state.ts';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ALL, some } from '../support/lane.ts';
import type { Finished } from '../support/engine.ts';
import { openRunBench, type RunBench } from './run-bench.ts';
import { APPROVE_ALL, author, commits, piece, plan, type Entry, type Step } from './run-script.ts';

let bench: RunBench;
afterEach(() => bench.end());

const SKILL = '---\nname: review\ndescription: How to review.\n---\nLook twice.\n';
const VARIABLES = { MY_WORD: 'a-word-of-mine', DESK_TOKEN: 'hunter2hunter2' };

/** A server of one file, which says which version of it runs, and whether it got its variable. */
function desk(version: string): string {
  return `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  const text = '${version} ' + (process.env.DESK_TOKEN === undefined ? 'without' : 'with') + ' a token';
  const result = {
    initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'desk', version: '1' } },
    'tools/list': { tools: [{ name: 'version', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text }] },
  }[method];
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: result ?? {} }) + '\\n');
}
`;
}

const FILES = { 'skills/review/SKILL.md': SKILL, 'tools/desk.mjs': desk('first') };
const BUILDER = {
  skills: ['skills/review'],
  mcp: [{ name: 'desk', command: process.execPath, args: ['tools/desk.mjs'], env: ['DESK_TOKEN'] }],
  env: ['MY_WORD'],
};

function agents(builder: object): object[] {
  return [
    { name: 'planner', role: 'planner', runtime: 'scripted', access: 'read-only' },
    { name: 'ann', role: 'builder', runtime: 'scripted', ...builder },
    { name: 'rex', role: 'reviewer', runtime: 'scripted', access: 'read-only' },
  ];
}

/** Uses all that its agent was given. */
function uses(id: string, more: readonly Step[] = []): Entry {
  const text = '{skill:review}{env:MY_WORD}\n';
  return author(id, [...more, { mcp: 'desk', tool: 'version' }, ...commits({ [`${id}.txt`]: text })]);
}

function open(script: readonly Entry[], builder: object = BUILDER): RunBench {
  return openRunBench({
    files: FILES,
    script: [plan([piece('a'), piece('b', { needs: ['a'] })]), ...script, APPROVE_ALL],
    settings: { agents: agents(builder) },
  });
}

function rewrite(): void {
  writeFileSync(join(bench.repository, 'skills/review/SKILL.md'), SKILL.replace('twice', 'away'));
  writeFileSync(join(bench.repository, 'tools/desk.mjs'), desk('second'));
}

const versions = (...all: readonly Finished[]) =>
  all
    .flatMap(({ lines }) => lines.filter(({ type }) => type === 'tool-ended').map(({ output }) => String(output)))
    .filter((output) => output.includes('token'));

const WHOLE = `${SKILL}${VARIABLES.MY_WORD}`;
const FIRST = expect.stringContaining('first with a token');

describe('an agent’s armory', { timeout: 200_000 }, () => {
  it('is that of the run’s start, whatever its files say since', ALL, async () => {
    bench = open([]);
    const target = (path: string) => join(bench.repository, path);
    const spoil: Step = {
      run: [
        '/bin/sh',
        '-c',
        `for f in '${target('skills/review/SKILL.md')}' '${target('tools/desk.mjs')}' skills/review/SKILL.md tools/desk.mjs; do echo spoiled >"$f"; done`,
      ],
    };
    bench.rescript([plan([piece('a'), piece('b', { needs: ['a'] })]), uses('a', [spoil]), uses('b'), APPROVE_ALL]);
    const prompts = await bench.run(['plan', 'objective.md', '--yes', '--prompts'], VARIABLES);
    expect(prompts.stdout).toContain('It has skill review, MCP server desk, variable MY_WORD.');
    const done = await bench.runAll([], VARIABLES);
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(readFileSync(target('tools/desk.mjs'), 'utf8')).toBe('spoiled\n');
    expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual([WHOLE, WHOLE]);
    expect(versions(done)).toEqual([FIRST, FIRST]);

    const { armory } = await bench.status();
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(armory.find(({ agent }) => agent === 'ann')).toMatchObject({
      skills: [{ name: 'review', hash }],
      mcp: [{ name: 'desk', hash }],
      files: [{ path: 'tools/desk.mjs', hash }],
      env: ['MY_WORD'],
      hash,
    });
    expect(await bench.report()).toMatch(
      /## Armory[^]*\| ann \| skill \| review \|[^]*\| ann \| MCP server \| desk \|/,
    );
    expect(done.lines.find(({ type }) => type === 'run-started')).toMatchObject({
      agents: [{}, { name: 'ann', equipment: ['skill review', 'MCP server desk', 'variable MY_WORD'] }, {}],
    });
    const kept = readdirSync(stateOf(bench.repository)).filter((name) => name.startsWith('squad.db'));
    for (const name of kept) {
      expect(readFileSync(join(stateOf(bench.repository), name)).includes(VARIABLES.DESK_TOKEN), name).toBe(false);
    }
  });

  it.each(some(['run.defined=kill', 'attempt.settled:1=kill'], 0, 1))(
    'is that of the start for a run that is resumed after %s',
    ALL,
    async (failpoint) => {
      bench = open([uses('a'), uses('b')]);
      const killed = await bench.runAll([], { ...VARIABLES, SQUAD_FAILPOINTS: failpoint });
      expect(killed.signal).toBe('SIGKILL');
      rewrite();
      const done = await bench.run(['resume', '--json'], VARIABLES);
      expect(done.code, done.stdout + done.stderr).toBe(0);
      expect([bench.fileOnBranch('a.txt'), bench.fileOnBranch('b.txt')]).toEqual([WHOLE, WHOLE]);
      expect(versions(done)).toEqual([FIRST, FIRST]);
    },
  );

  it('is that of now for a run whose start was cut short before there was one', ALL, async () => {
    bench = open([uses('a'), uses('b')]);
    const killed = await bench.runAll([], { ...VARIABLES, SQUAD_FAILPOINTS: 'armory.stored=kill' });
    expect(killed.signal).toBe('SIGKILL');
    rewrite();
    const done = await bench.runAll([], VARIABLES);
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(bench.fileOnBranch('b.txt')).toBe(WHOLE.replace('twice', 'away'));
    expect(versions(done)).toEqual([1, 2].map(() => expect.stringContaining('second with a token')));
  });

  it(
    'asks a person where a bound copy was changed, and where a variable is gone; a turn then has all of it',
    ALL,
    async () => {
      bench = open([uses('a'), uses('b')]);
      await bench.runAll([], { ...VARIABLES, SQUAD_FAILPOINTS: 'attempt.settled:1=kill' });
      const { MY_WORD } = VARIABLES;
      const without = await bench.run(['resume', '--json'], { MY_WORD });
      expect(without.code, without.stdout).toBe(3);
      expect(without.stdout).toContain('ann: mcp[0].env[0]: the variable DESK_TOKEN is not set');

      const runs = join(stateOf(bench.repository), 'runs');
      const armory = join(runs, readdirSync(runs)[0] ?? '', 'armory');
      const copy =
        readdirSync(armory, { recursive: true })
          .map(String)
          .find((path) => path.endsWith('SKILL.md')) ?? '';
      chmodSync(join(armory, copy), 0o600);
      writeFileSync(join(armory, copy), 'spoiled');
      const answer = async () => {
        const said = await bench.run(['answer', 'try again']);
        expect(said.code, said.stderr).toBe(0);
      };
      const question = () => bench.status().then(({ waitingFor }) => JSON.stringify(waitingFor));
      expect(await question()).toContain('DESK_TOKEN');
      await answer();
      const damaged = await bench.run(['resume', '--json'], VARIABLES);
      expect(damaged.code, damaged.stdout).toBe(3);
      expect(await question()).toMatch(/the skill review: its copy .* is missing or was changed/);

      writeFileSync(join(armory, copy), SKILL);
      await answer();
      const done = await bench.run(['resume', '--json'], VARIABLES);
      expect(done.code, done.stdout).toBe(0);
      expect(bench.fileOnBranch('b.txt')).toBe(WHOLE);
    },
  );

  it('is refused before there is a run, where the runtime cannot honour it', async () => {
    bench = open([], { hooks: [{ on: 'turn-ended', run: 'true' }] });
    const refused = await bench.runAll();
    expect(refused.code, refused.stdout).toBe(65);
    expect(refused.stdout).toMatch(/squad\.yaml:\d+: ann: hooks: scripted cannot honour hooks/);
    expect(existsSync(stateOf(bench.repository))).toBe(false);
    rmSync(join(bench.repository, 'skills'), { recursive: true });
    bench.settings({ agents: agents(BUILDER) });
    expect((await bench.runAll([], VARIABLES)).stdout).toContain('ann: skills[0]: skills/review does not exist');
  });
});
