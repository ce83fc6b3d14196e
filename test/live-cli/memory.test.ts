import { expect, it, onTestFinished } from 'vitest';
import { processesOf, sharedMegabytes, textOf } from '../../bench/shared/run-processes.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { planned, type ScriptedTurn, type Gate } from './turn-scripts.ts';
import { openModelRoom, runtimesAt, turnsTaken, type Cli } from './whole-run-room.ts';

const test = it.skipIf(CLAUDE_BINARY === undefined || CODEX_BINARY === undefined);
const PIECES: readonly Cli[] = ['claude', 'claude', 'claude', 'codex', 'codex', 'codex'];
/** NFR-FBO-005, whose six agents are no part of squad. */
const MOST_MB = 500;
const nameOf = (index: number): string => `piece-${index + 1}`;

const OBJECTIVE = `# Objective: Six pieces

## Goals

${PIECES.map((_, index) => `${index + 1}. ${nameOf(index)}.txt is there`).join('\n')}

## Success Criteria

- [ ] All are there (run: ls ${PIECES.map((_, index) => `${nameOf(index)}.txt`).join(' ')})
`;

/** Each has used a tool, and waits for its model. */
function turnsOf(gate: Gate): readonly ScriptedTurn[] {
  const tasks = PIECES.map((_, index) => ({
    id: nameOf(index),
    title: `Write ${nameOf(index)}`,
    brief: `Write ${nameOf(index)}.txt.`,
    acceptance: ['it is there'],
  }));
  return [
    { name: 'plan', when: /Split this objective/, acts: [planned('Six.', tasks)] },
    ...PIECES.map((_, index): ScriptedTurn => {
      const name = nameOf(index);
      return {
        name,
        when: new RegExp(`# Task ${name}:`),
        acts: [
          { act: 'write', path: `${name}.txt`, text: `${name}\n` },
          async () => {
            await gate.pass();
            return { act: 'shell', command: `git add -A && git commit -m "Add ${name}"` };
          },
          { act: 'say', text: 'done' },
        ],
      };
    }),
  ];
}

test(
  'squad takes less than 500 MB beside six real agents at work, their mail servers included',
  { timeout: 400_000 },
  async () => {
    const agent = (name: string, role: string, runtime: Cli, access: string) => {
      return { name, role, runtime, access, ...(runtime === 'codex' ? { model: PLAIN_MODEL } : {}) };
    };
    const room = await openModelRoom({
      atGate: PIECES.length,
      files: { 'objective.md': OBJECTIVE },
      turns: turnsOf,
      settings: (baseUrl) => ({
        version: 1,
        agents: [
          agent('planner', 'planner', 'claude', 'read-only'),
          ...PIECES.map((cli, index) => agent(`builder-${index + 1}`, 'builder', cli, 'edit')),
        ],
        runtimes: runtimesAt(baseUrl),
        limits: { parallel: PIECES.length },
      }),
    });
    onTestFinished(() => room.close());
    const run = room.engine.start(['run', 'objective.md', '--json', '--yes'], room.environment);
    await Promise.race([
      room.gate.reached,
      run.finished.then(({ stderr }) => expect.fail(`it ended early: ${stderr}`)),
    ]);
    const live = turnsTaken(room.engine).flatMap(({ attempt, result }) => (result === undefined ? [attempt.id] : []));
    const all = processesOf(run.child.pid ?? 0, live).map(({ pid }) => ({
      of: ownerOf(pid),
      mb: sharedMegabytes(pid),
    }));
    const sum = (owner: string) => all.filter((one) => one.of === owner).reduce((total, { mb }) => total + mb, 0);
    const [squad, servers, agents] = ['squad', 'mail servers', 'agents'].map(sum) as [number, number, number];
    const told = `engine and wrappers ${squad.toFixed()} MB, mail servers ${servers.toFixed()} MB, agents ${agents.toFixed()} MB`;
    console.log(`${PIECES.length} real agents at work (PSS): ${told}`);
    expect(Math.min(squad, servers, agents), told).toBeGreaterThan(0);
    expect(squad + servers, told).toBeLessThan(MOST_MB);
    room.gate.open();
    const end = await run.finished;
    expect(end.lines.at(-1)).toMatchObject({ type: 'run-ended', outcome: 'done' });
  },
);

/** An agent's own helpers, such as those of its sandbox, are the agent's. */
function ownerOf(pid: number): 'squad' | 'mail servers' | 'agents' {
  const [program = '', ...args] = textOf(`${pid}/cmdline`).split('\0');
  if ([CLAUDE_BINARY, CODEX_BINARY].includes(program) || /(?:^|\/)(?:socat|bwrap)$/.test(program)) return 'agents';
  return args.some((one) => one.endsWith('/mcp.mjs')) ? 'mail servers' : 'squad';
}
