import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { applyChanges } from '../../src/rules/apply-changes.ts';
import { createBoard } from '../../src/rules/board.ts';
import { passedCap } from '../../src/model/spending.ts';
import { DEFAULT_PLAN_LIMITS } from '../../src/model/plan/board.ts';
import type { NewTask } from '../../src/model/plan/task.ts';
import { settingsSchema } from '../../src/model/settings.ts';
import { DEFAULT_TURN_LIMITS, type TurnLimits } from '../../src/model/turn-request.ts';
import type { TurnResult } from '../../src/model/turn-result.ts';
import { createLineSplitter, MAX_LINE_BYTES } from '../../src/substrate/system/process/splitter.ts';
import { trimOutput } from '../../src/substrate/system/process/system-processes.ts';
import { newTask } from '../rules/support.ts';
import { factsOf, member } from '../playbooks/simulator.ts';
import { makeRequest } from '../runtimes/claude/support.ts';
import { testHost } from '../support/test-host.ts';
import { allowedMs } from '../support/busy-machine.ts';

const AT = { seq: 1, at: 1 };
const MIB = 1024 * 1024;

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'squad-s15-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

describe('S15: caps of a plan', () => {
  const board = () => createBoard(factsOf([member('bob', 'builder')]));
  const add = (task: NewTask) => ({ do: 'add-task' as const, task });

  it('S15: 2,000 tasks are taken, one more is not', () => {
    expect(DEFAULT_PLAN_LIMITS.tasks).toBe(2000);
    const tasks = Array.from({ length: 2001 }, (_item, index) => add(newTask(`t-${index}`)));
    const made = applyChanges(board(), tasks, AT);
    expect(made.board.tasks.size).toBe(2000);
    expect(JSON.stringify(made)).toContain('a plan has at most 2000 tasks');
  });

  it('S15: 3 levels of tasks below a task are taken, a fourth is not', () => {
    expect(DEFAULT_PLAN_LIMITS.depth).toBe(3);
    const chain = [0, 1, 2, 3, 4].map((level) =>
      add(newTask(`t-${level}`, level === 0 ? {} : { parent: `t-${level - 1}` })),
    );
    const made = applyChanges(board(), chain, AT);
    expect([...made.board.tasks.keys()]).toEqual(['t-0', 't-1', 't-2', 't-3']);
    expect(JSON.stringify(made)).toContain('t-4 would be 4 levels deep; 3 are allowed');
  });

  it('S15: 32 agents are taken, 33 are not', () => {
    const agents = (count: number) => ({
      agents: Array.from({ length: count }, (_item, index) => ({
        name: `a-${index}`,
        role: 'builder',
        runtime: 'claude',
      })),
    });
    expect(settingsSchema.safeParse(agents(32)).success).toBe(true);
    expect(settingsSchema.safeParse(agents(33)).success).toBe(false);
  });

  it.each([
    ['usd', { usd: 5 }, { usd: 5 }],
    ['tokens', { tokens: 100 }, { tokens: 101 }],
    ['turns', { turns: 3 }, { turns: 3 }],
    ['minutes', { minutes: 10 }, { minutes: 10.1 }],
  ] as const)('S15: what is used up (%s) lets no further turn begin', (cap, caps, use) => {
    const none = { minutes: 0, turns: 0, usd: 0, tokens: 0 };
    expect(passedCap({ ...none, ...use }, caps)).toMatchObject({ cap });
    expect(passedCap(none, caps)).toBeUndefined();
  });
});

describe('S15: caps of a turn', () => {
  it('S15: a line of more than 8 MiB is cut, whatever comes in', () => {
    expect(MAX_LINE_BYTES).toBe(8 * MIB);
    const splitter = createLineSplitter();
    let held = 0;
    const lines = [];
    for (let index = 0; index < 40; index += 1) {
      lines.push(...splitter.push(Buffer.alloc(MIB, 'x')));
      held = Math.max(held, process.memoryUsage().arrayBuffers);
    }
    lines.push(...splitter.push(Buffer.from('\n{"a":1}\n')));
    expect(lines.map(({ type }) => type)).toEqual(['cut', 'line']);
    expect(lines[0]).toMatchObject({ bytes: 40 * MIB });
    expect(held).toBeLessThan(300 * MIB);
  });

  it('S15: of a log 64 MB are kept, its head and its end', async () => {
    const path = join(root, 'stdout');
    writeFileSync(path, 'first\n');
    truncateSync(path, 200 * MIB);
    writeFileSync(path, 'last\n', { flag: 'a' });
    await trimOutput(path, { head: 32 * MIB, tail: 32 * MIB });
    expect(statSync(path).size).toBeLessThan(64 * MIB + 1024);
    const kept = readFileSync(path);
    expect(kept.subarray(0, 6).toString()).toBe('first\n');
    expect(kept.subarray(-5).toString()).toBe('last\n');
    expect(kept.includes('squad-output-trimmed')).toBe(true);
  });

  it('S15: the wall time ends a turn, and so does a flood of output', async () => {
    const [late, flood] = await Promise.all([
      run('late', 'sleep 60', { wallMs: 1500 }),
      run('flood', 'yes flood; true', { maxOutputBytes: 3 * MIB }),
    ]);
    expect(late).toMatchObject({ outcome: 'timed-out' });
    expect(late.durationMs).toBeLessThan(allowedMs(30_000));
    expect(flood.outcome).not.toBe('completed');
    expect(flood.durationMs).toBeLessThan(allowedMs(30_000));
  });
});

async function run(name: string, prompt: string, limits: Partial<TurnLimits>): Promise<TurnResult> {
  const directory = join(root, name);
  mkdirSync(directory);
  const request = {
    ...makeRequest({ prompt, workspace: { path: root } }),
    turnId: `security-cap-${name}-${process.pid}`,
    limits: { ...DEFAULT_TURN_LIMITS, ...limits },
  };
  return compose(testHost(root))
    .checkRuntime()
    .start(request, { directory, onSpawned: () => Promise.resolve() }).result;
}
