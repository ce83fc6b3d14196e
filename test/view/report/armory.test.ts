import { describe, expect, it } from 'vitest';
import { planLines } from '../../../src/cli/ask/plan-lines.ts';
import { renderRunEvent } from '../../../src/cli/render/run-lines.ts';
import { PLAIN } from '../../../src/cli/render/style.ts';
import { armoryFactsOf, armoryFactsSchema, equipmentOf } from '../../../src/model/armory-facts.ts';
import { runDefinitionSchema, type BoundAgent, type RunDefinition } from '../../../src/model/run.ts';
import { workTask } from '../../../src/playbooks/shared/tasks.ts';
import { renderReport } from './render-report.ts';
import { definition, RecordedRun } from './support.ts';

const HASH = 'a'.repeat(64);
/** Nothing of squad puts such names in; a ledger that was changed could. */
const EVIL = 'x | y\u001b[2J\u202e<script>';

const EQUIPMENT: Partial<BoundAgent> = {
  access: { level: 'edit', network: true },
  effort: 'high',
  deny: [EVIL],
  skills: [{ name: 'review', hash: HASH, from: 'docs/skills/review' }],
  mcp: [
    { name: 'desk', command: 'node', args: ['tools/desk.mjs'], env: ['DESK_TOKEN'] },
    { name: 'web', url: 'https://example.org', headers: { A: 'B' } },
  ],
  hooks: [
    { on: 'tool-ended', tool: 'Edit', run: './check.sh' },
    { on: 'turn-ended', run: 'true' },
  ],
  env: ['MY_KEY'],
  home: 'mine',
  ask: 'human',
  files: [{ path: 'tools/desk.mjs', hash: HASH }],
};

function equipped(more: Partial<BoundAgent> = EQUIPMENT): RunDefinition {
  const all = definition();
  const agents = all.agents.map((agent) => (agent.name === 'bob' ? { ...agent, ...more } : agent));
  return runDefinitionSchema.parse(JSON.parse(JSON.stringify({ ...all, agents })));
}

const bob = (of: RunDefinition): BoundAgent => {
  const found = of.agents.find(({ name }) => name === 'bob');
  if (found === undefined) throw new Error('no bob');
  return found;
};

describe('an agent’s armory', () => {
  it('is known by names and hashes', () => {
    const facts = armoryFactsSchema.parse(armoryFactsOf(bob(equipped())));
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
    expect(facts).toEqual({
      agent: 'bob',
      role: 'builder',
      runtime: 'scripted',
      model: null,
      access: 'edit',
      network: true,
      effort: 'high',
      skills: [{ name: 'review', hash: HASH }],
      mcp: [
        { name: 'desk', hash },
        { name: 'web', hash },
      ],
      hooks: [
        { on: 'tool-ended', tool: 'Edit', hash },
        { on: 'turn-ended', tool: null, hash },
      ],
      files: [{ path: 'tools/desk.mjs', hash: HASH }],
      deny: [EVIL],
      env: ['MY_KEY'],
      home: 'mine',
      ask: 'human',
      hash,
    });
    expect(armoryFactsOf(bob(definition()))).toMatchObject({ skills: [], mcp: [], effort: null, home: null });
  });

  it.each<[string, Partial<BoundAgent>]>([
    ['a skill', { skills: [{ name: 'review', hash: 'b'.repeat(64), from: 'docs/skills/review' }] }],
    ['a server', { mcp: [{ name: 'desk', command: 'node', args: ['tools/desk.mjs', '-v'] }] }],
    ['a hook', { hooks: [] }],
    ['the instructions', { instructions: 'Work.' }],
  ])('has another hash with another %s', (_name, more) => {
    expect(armoryFactsOf(bob(equipped({ ...EQUIPMENT, ...more }))).hash).not.toBe(armoryFactsOf(bob(equipped())).hash);
  });

  it('is in the report of a run, and absent where there is none', () => {
    const run = new RecordedRun(equipped());
    const [, section = ''] = /## Armory([^]*?)(?:\n## |$)/.exec(renderReport(run.read(), run.clock.time)) ?? [];
    expect(section).toContain('| bob | skill | review | `aaaaaaaaaaaa` |');
    expect(section).toMatch(/\| bob \| MCP server \| desk \| `[0-9a-f]{12}` \|/);
    expect(section).toMatch(/\| bob \| hook \| tool-ended Edit \| `[0-9a-f]{12}` \|/);
    expect(section).toContain('| bob | file | tools/desk.mjs | `aaaaaaaaaaaa` |');
    for (const row of ['effort | high', 'network | open', 'variable | MY_KEY', 'home | mine', 'ask | human']) {
      expect(section).toContain(`| bob | ${row} |`);
    }
    expect(section).toContain(String.raw`x \| y`);
    expect(section).not.toMatch(/[\u001b\u202e]|<script>/);
    const plain = new RecordedRun(definition());
    expect(renderReport(plain.read(), plain.clock.time)).not.toContain('## Armory');
  });

  it('is said in the plan and at the start of a run', () => {
    const run = equipped();
    const task = workTask({ id: 'login', title: 'Log in', role: 'builder', brief: 'Build it.' });
    const about = { definition: run, limits: run.limits, estimate: null, columns: 400, style: PLAIN };
    const lines = planLines({ summary: 'One.', tasks: [task], criteria: [] }, about).join('\n');
    expect(lines).toContain('bob (scripted, skill review, MCP server desk, MCP server web, hook on tool-ended of Edit');
    expect(lines).toContain('or cyd (scripted)');
    const agents = run.agents.map((agent) => ({ ...agent, equipment: equipmentOf(agent) }));
    const started = renderRunEvent({
      ...{ type: 'run-started', at: 1, runId: 'r', name: 'tidy', resumed: false },
      ...{ playbook: 'delivery', branch: 'squad/tidy', base: 'b', agents },
    });
    expect(started?.split('\n')).toHaveLength(3);
    expect(started).toMatch(/\nhas {7}bob: skill review, .*variable MY_KEY, your own home, asks a person$/);
    expect(started).not.toMatch(/[\u001b\u202e]/);
  });
});
