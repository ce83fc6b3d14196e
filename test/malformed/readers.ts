import type { PlanEvent } from '../../src/model/plan/event.ts';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fc } from '@fast-check/vitest';
import { expect } from 'vitest';
import { compose } from '../../src/engine/compose.ts';
import { acceptEvent } from '../../src/rules/accept-event.ts';
import { createBoard } from '../../src/rules/board.ts';
import { factsOf as runFactsOf } from '../../src/rules/run-facts.ts';
import { interventionOf, readInput } from '../../src/rules/read-input.ts';
import { isSquadError } from '../../src/model/errors.ts';
import { plainJson, type Json } from '../../src/text/json.ts';
import { planEntrySchema } from '../../src/model/plan/entry.ts';
import { planEventSchema } from '../../src/model/plan/event.ts';
import { RUN_EVENTS } from '../../src/model/run.ts';
import { createDeliveryPlaybook } from '../../src/playbooks/delivery/index.ts';
import { readObjective, SETTINGS_FILE } from '../../src/squad/preflight/read-input.ts';
import { readSettings } from '../../src/squad/preflight/read-settings.ts';
import { checkPlans } from '../../src/view/plan-rules.ts';
import { replayPlan } from '../../src/view/replay-plan.ts';
import { factsOf, foldPlan, member } from '../playbooks/simulator.ts';
import { testHost } from '../support/test-host.ts';
import { newTask } from '../rules/support.ts';
import { writtenPlan } from '../simulation/world/written-plan.ts';
import { ANSWER_READERS, play } from './answers.ts';
import { holdsObjective, holdsSettings } from './holds.ts';
import { MESSAGE_READER } from './messages.ts';
import { mutated } from './mutate-json.ts';
import { reader, type Reader } from './reader.ts';
import { objectiveText, settingsText } from './words.ts';

const COMMANDS: readonly Json[] = [
  { id: 1, verb: 'pause', data: { on: 'run' }, by: 'ada' },
  { id: 1, verb: 'pause', data: { on: 'agent/bob' }, by: 'ada' },
  { id: 1, verb: 'resume', data: { on: 'run' }, by: 'ada' },
  { id: 1, verb: 'drain', data: {}, by: 'ada' },
  { id: 1, verb: 'stop', data: {}, by: 'ada' },
  { id: 1, verb: 'cancel', data: { on: 'task/a', why: 'no' }, by: 'ada' },
  { id: 1, verb: 'retry', data: { task: 'a', fresh: true, note: 'again' }, by: 'ada' },
  { id: 1, verb: 'skip', data: { task: 'a', why: 'no' }, by: 'ada' },
  { id: 1, verb: 'override', data: { task: 'a', as: 'done', why: 'good' }, by: 'ada' },
  { id: 1, verb: 'switch', data: { on: 'agent/bob', runtime: 'codex', model: 'm' }, by: 'ada' },
  { id: 1, verb: 'answer', data: { question: 'mail/q', answer: 'yes' }, by: 'ada' },
];

/** A command, or nothing; and nothing of it that the plan could not read again. */
export function holdsCommand(data: Json): void {
  const facts = factsOf([member('bob', 'builder')]);
  const tasks = ['a', 'b'].map(
    (id) => ({ do: 'add-task', task: newTask(id, id === 'b' ? { needs: ['a'] } : {}) }) as const,
  );
  const ask: PlanEvent = {
    type: 'mail',
    seq: 1,
    at: 1,
    id: 'm-q',
    from: 'bob',
    to: ['MAIN'],
    kind: 'ask',
    action: 'clarify',
    body: { question: 'which?' },
  };
  const board = foldPlan(facts, [
    { entry: 'changes', seq: 1, at: 1, changes: tasks },
    { entry: 'event', seq: 1, at: 1, event: ask },
  ]);
  const event = { seq: 2, stream: 'run', type: 'operator-command', at: 2, cause: null, epoch: 1, data };
  interventionOf(data);
  for (const input of readInput(event, {})) {
    if (!('event' in input)) throw new Error('a command is no work of a task');
    const news = planEventSchema.parse({ seq: 2, at: 2, ...input.event });
    acceptEvent(board, news);
    acceptEvent(createBoard(facts), news);
  }
}

const TEAM = [
  ['ada', 'planner', 'claude'],
  ['bob', 'builder', 'codex'],
  ['rex', 'reviewer', 'claude'],
] as const;
const DEFINED = { ...writtenPlan({ team: TEAM, tasks: [] }).definition, repository: { root: '/', base: 'base' } };
const ENTRIES: readonly Json[] = play(
  { playbook: createDeliveryPlaybook(), team: TEAM.map(([name, role]) => member(name, role)), forms: [] },
  '',
  null,
).entries.map(plainJson);

/** A plan of which one entry is not as it was written: read, or told to be unreadable. */
function holdsStored([place, data]: readonly [number, Json]): void {
  const stored = ENTRIES.with(place % ENTRIES.length, data);
  const event = { stream: 'run', at: 1, epoch: 1 };
  const events = [
    { ...event, seq: 1, type: RUN_EVENTS.defined, cause: null, data: plainJson(DEFINED) },
    ...stored.map((entry, index) => ({ ...event, seq: index + 2, type: RUN_EVENTS.plan, cause: 1, data: entry })),
  ];
  const history = { events, runs: [{ id: 'run', applied: events.length }], attempts: [], messages: [] };
  const unreadable = checkPlans(history).some(({ rule }) => rule === 'plan-unreadable');
  const entries = planEntrySchema.array().safeParse(stored);
  if (!entries.success) return expect(unreadable).toBe(true);
  try {
    replayPlan(runFactsOf(DEFINED), entries.data);
    expect(unreadable).toBe(false);
  } catch (error) {
    if (!isSquadError(error)) throw error;
    expect([error.code, unreadable]).toEqual(['database-corrupt', true]);
  }
}

/** A folder's files as bytes: refused with the file and the line, in the one error type, or taken. */
async function holdsFiles([objective, settings]: readonly (string | Uint8Array)[]): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'squad-malformed-'));
  try {
    writeFileSync(join(root, 'objective.md'), objective ?? '');
    writeFileSync(join(root, SETTINGS_FILE), settings ?? '');
    await refusedAt(readObjective('objective.md', root), 'objective.md');
    await refusedAt(readSettings(root, compose(testHost(root)), testHost(root)), SETTINGS_FILE);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function refusedAt(reading: Promise<unknown>, file: string): Promise<void> {
  await reading.catch((error: unknown) => {
    if (!isSquadError(error)) throw error;
    expect(error.code).toBe('bad-input');
    expect(error.message).toMatch(new RegExp(`^(?:\\./)?${file}:[1-9]\\d*(?::\\d+)?: `, 'm'));
    expect(error.next).toBeDefined();
  });
}

const bytes = (text: fc.Arbitrary<string>): fc.Arbitrary<string | Uint8Array> =>
  fc.oneof(text, fc.uint8Array({ maxLength: 200 }));

export const READERS: readonly Reader[] = [
  reader('objectives', objectiveText, holdsObjective),
  reader('settings', settingsText, holdsSettings),
  reader(
    'stored plans',
    fc.nat(ENTRIES.length - 1).chain((place) => fc.tuple(fc.constant(place), mutated(ENTRIES[place] ?? null))),
    holdsStored,
  ),
  reader('commands of people', mutated(...COMMANDS), holdsCommand),
  MESSAGE_READER,
  ...ANSWER_READERS,
];

/** Each costs a few files. */
export const FILE_READER = reader(
  'files as bytes',
  fc.tuple(bytes(objectiveText), bytes(settingsText), bytes(fc.string())),
  holdsFiles,
);
