import { globSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterEach, describe, expect, it } from 'vitest';
import { checkLedger } from '../../src/cli/check-ledger.ts';
import { ledgerPath } from '../../src/substrate/ledger/index.ts';
import { openEngineRoom, type EngineRoom } from '../support/engine.ts';
import { CLAUDE_BINARY } from './claude-harness.ts';
import { CODEX_BINARY, PLAIN_MODEL } from './codex-harness.ts';
import { startFakeAnthropic } from './fake-anthropic.ts';
import { startFakeOpenai } from './fake-openai.ts';
import { createGate, planned, scriptModel, type Act, type Gate, type ScriptedModel } from './turn-scripts.ts';
import { processesOf, runtimesAt, turnsTaken, type Cli } from './whole-run-room.ts';
import { stateOf } from '../support/state.ts';

const OBJECTIVE = `# Objective: One file

## Goals

1. made.txt is there

## Success Criteria

- [ ] It is there (run: test -f made.txt)
`;

const other = (action: string, given: Record<string, unknown> = {}): Act => mail('mail', { action, arguments: given });
const mail = (tool: string, given: Record<string, unknown> = {}): Act => ({ act: 'mail', tool, arguments: given });
const PLAN = planned('One piece.', [{ id: 'made', title: 'Make it', brief: 'Write it.', acceptance: ['there'] }]);

interface MailRun {
  readonly engine: EngineRoom;
  readonly model: ScriptedModel;
  readonly environment: Readonly<Record<string, string>>;
  /** What the tools told the builder's model. */
  readonly told: string[];
  /** Token files that were there when a model was asked for the first time in a turn. */
  readonly files: string[];
  close(): Promise<void>;
}

/** A planner and a builder on one real CLI; the builder's model uses the mailbox, and waits at the gate in between. */
async function openMailRun(cli: Cli, gate: Gate): Promise<MailRun> {
  const told: string[] = [];
  const files: string[] = [];
  let root = '';
  const look = (): void => {
    files.push(...globSync(join(stateOf(root), 'turns', '*', 'mail-turn.json')));
  };
  const model = scriptModel([
    {
      name: 'plan',
      when: /Split this objective/,
      acts: [
        () => {
          look();
          return PLAN;
        },
      ],
    },
    {
      name: 'build',
      when: /# Task made:/,
      acts: [
        () => {
          look();
          return other('status');
        },
        mail('send', { to: ['planner'], text: 'I begin.' }),
        mail('send', { to: ['MAIN'], text: 'x', from: 'MAIN' }),
        other('inbox'),
        async ({ outputs }) => {
          told.push(...outputs);
          await gate.pass();
          return mail('send', { to: ['MAIN'], text: 'Nobody drives me now.' });
        },
        { act: 'shell', command: 'echo made > made.txt && git add -A && git commit -q -m "Make it"' },
        { act: 'say', text: 'It is made.' },
      ],
    },
  ]);
  const anthropic = await startFakeAnthropic(model.anthropic);
  const openai = await startFakeOpenai(model.openai);
  const agent = (name: string, role: string, access: string) => {
    return { name, role, access, runtime: cli, ...(cli === 'codex' ? { model: PLAIN_MODEL } : {}) };
  };
  const settings = stringify({
    version: 1,
    agents: [agent('planner', 'planner', 'read-only'), agent('builder', 'builder', 'edit')],
    runtimes: runtimesAt(openai.baseUrl),
  });
  const engine = openEngineRoom({ 'squad.yaml': settings, 'objective.md': OBJECTIVE });
  root = engine.repository;
  return {
    engine,
    model,
    told,
    files,
    environment: {
      ANTHROPIC_API_KEY: 'key-of-the-fake',
      ANTHROPIC_BASE_URL: anthropic.url,
      FAKE_KEY: 'key-of-the-fake',
    },
    close: async () => {
      gate.open();
      await anthropic.close();
      await openai.close();
      engine.close();
    },
  };
}

/** `<sender> → <recipients>: <text>` of every note, in order; and what was refused. */
function mailIn({ ledger }: EngineRoom): { sent: string[]; refused: unknown[] } {
  const open = ledger();
  try {
    const messages = [...open.mail.trace({})].flatMap((entry) => (entry.event === 'message' ? [entry.message] : []));
    return {
      sent: messages
        .filter(({ type }) => type === 'send')
        .map((one) => `${one.from} → ${one.to.join(' ')}: ${one.body}`),
      refused: open.events({}).flatMap(({ type, data }) => (type === 'mail-refused' ? [data] : [])),
    };
  } finally {
    open.close();
  }
}

const CLIS = [
  { cli: 'claude', binary: CLAUDE_BINARY },
  { cli: 'codex', binary: CODEX_BINARY },
] as const;

let run: MailRun | undefined;
afterEach(async () => run?.close());

describe.each(CLIS)('the mailbox within turns of the real $cli', ({ cli, binary }) => {
  const test = it.skipIf(binary === undefined);

  test('is used unattended, and by an agent whose engine was killed: each message once, from its true sender', async () => {
    const gate = createGate(1);
    run = await openMailRun(cli, gate);
    const { engine, model, environment, told, files } = run;
    const first = engine.start(['run', 'objective.md', '--json', '--yes'], environment);
    await gate.reached;
    first.child.kill('SIGKILL');
    await first.finished;
    const [status = '', begun = '', forged = '', inbox = ''] = told;
    expect(status).toMatch(/"address": ?\\?"builder/);
    expect(begun).toMatch(/takes_effect/);
    expect(forged).toMatch(/is not an argument of send/);
    expect(inbox).toMatch(/information, not orders/);
    // Nobody but the server itself can have read its secret.
    expect(files).toEqual([]);
    gate.open();
    await until(() => mailIn(engine).sent.length === 2);
    expect(mailIn(engine).sent).toEqual([
      'builder → planner: {"text":"I begin."}',
      'builder → MAIN: {"text":"Nobody drives me now."}',
    ]);

    const end = await engine.run(['resume', '--json'], environment);
    expect(end.lines.at(-1), end.stderr).toMatchObject({ type: 'run-ended', outcome: 'done' });
    expect(end.lines.find((line) => line['type'] === 'attempt-taken')).toMatchObject({ how: 'attached' });
    expect(model.strange).toEqual([]);
    expect(model.asked.filter((step, index, all) => all.indexOf(step) !== index)).toEqual([]);
    const { sent, refused } = mailIn(engine);
    expect(sent).toHaveLength(2);
    expect(refused).toMatchObject([{ by: 'turn', address: 'builder', field: 'from' }]);
    const [, turn] = turnsTaken(engine);
    expect(turn?.result).toMatchObject({ outcome: 'completed', denials: [] });
    const check = checkLedger(ledgerPath(stateOf(engine.repository)));
    expect([...check.problems, ...check.violations]).toEqual([]);
    expect(await processesOf(engine.root)).toEqual([]);
  });
});

async function until(holds: () => boolean): Promise<void> {
  for (let looks = 0; looks < 300 && !holds(); looks += 1) await new Promise((resolve) => setTimeout(resolve, 100));
  expect(holds()).toBe(true);
}
