import { addressOf } from '../../../src/model/mail/address.ts';
import type { MailDraft } from '../../../src/model/mail/envelope.ts';
import type { BoundAgent } from '../../../src/model/run.ts';
import { draw, drawInt, drawOf } from '../world/draw.ts';
import type { Stage } from '../world/stage.ts';
import type { Weather } from './weather.ts';
import type { WorldRecord } from './record.ts';

/** Most runs take about so long. */
const A_RUN_MS = 45_000;
const HOUR = 3_600_000;
const PEOPLE = ['dana', 'lee'] as const;

/** What people and strangers do, as agents see it coming. `about` makes every time another one. */
export interface People {
  moveBranch(...about: (string | number)[]): void;
}

/** People who have their say on tasks and add work, and strangers who move the run branch, at moments of their own. */
export function letPeopleIn(
  seed: number,
  weather: Weather,
  stage: Stage,
  record: WorldRecord,
  agents: readonly BoundAgent[],
): People {
  const { time } = stage;
  const moveBranch: People['moveBranch'] = (...about) => moveRunBranch(seed, stage, record, about);
  const moment = (name: string, index: number): number => drawInt(500, A_RUN_MS, seed, name, index);
  for (let index = 0; index < weather.moves; index += 1) {
    time.after(moment('move', index), () => moveBranch('at', index));
  }
  for (let index = 0; index < weather.words; index += 1) {
    time.after(moment('word', index), () => sayWord(seed, stage, record, index));
  }
  if (!weather.calm && draw(seed, 'person assigns') < weather.mail) {
    time.after(moment('assign', 0), () => assignByPerson(seed, stage, record, agents));
  }
  return { moveBranch };
}

function moveRunBranch(seed: number, stage: Stage, record: WorldRecord, about: readonly (string | number)[]): void {
  const { repository, run } = stage;
  const { git, base } = repository;
  const head = git.head(run.name);
  if (head === undefined) return;
  const put = (commit: string | undefined): void => {
    git.point(run.name, commit);
    record.moved.push(commit);
  };
  const make = (change: { writes: Record<string, string>; removes?: string[] }): void => {
    const commit = git.commit(head, change, `theirs ${record.moved.length}`);
    record.strangers.add(commit);
    put(commit);
  };
  const files = [...git.filesAt(head).keys()];
  switch (drawOf(['commit', 'commit', 'remove', 'back', 'start', 'delete'], seed, 'move', ...about)) {
    case 'commit':
      return make({ writes: { 'theirs.txt': `theirs ${record.moved.length}` } });
    case 'remove':
      return make({ writes: {}, removes: files.slice(-1) });
    case 'back':
      return put([...git.history(head)][1] ?? base);
    case 'start':
      return put(base);
    case 'delete':
      return put(undefined);
  }
}

/** One word on each task at most, so that what it meant is never in doubt. */
function sayWord(seed: number, stage: Stage, record: WorldRecord, index: number): void {
  const said = new Set(record.words.map(({ task }) => task));
  const seen = [...new Set(record.turns.map(({ task }) => task))].filter((task) => !said.has(task));
  // Who skips the plan ends the run: that is tried often enough.
  const later = seen.filter((task) => !/^(?:plan|setup|assign)$/.test(task));
  const [first, ...others] = later.length > 0 && draw(seed, 'later', index) < 0.9 ? later : seen;
  const ledger = stage.ledger();
  if (first === undefined || ledger?.run(stage.run.id) === undefined) return;
  const task = drawOf([first, ...others], seed, 'about', index);
  const by = drawOf(PEOPLE, seed, 'by', index);
  const why = 'a person wants it';
  const say = drawOf(['skip', 'skip', 'retry', 'done', 'failed'], seed, 'word', index);
  switch (say) {
    case 'skip':
      ledger.command(stage.run.id, 'skip', { task, why }, by);
      break;
    case 'retry':
      ledger.command(stage.run.id, 'retry', { task, fresh: draw(seed, 'fresh', index) < 0.3 }, by);
      break;
    case 'done':
    case 'failed':
      ledger.command(stage.run.id, 'override', { task, as: say, why }, by);
      break;
  }
  const verb = say === 'skip' || say === 'retry' ? say : 'override';
  record.words.push({ verb, as: say === 'done' || say === 'failed' ? say : undefined, task, by, at: stage.time.now() });
}

function assignByPerson(seed: number, stage: Stage, record: WorldRecord, agents: readonly BoundAgent[]): void {
  const ledger = stage.ledger();
  const worker = agents.find(({ role }) => role === 'builder' || role === 'member');
  if (worker === undefined || ledger?.mail.policy(stage.run.id) === undefined) return;
  const draft = assignment(addressOf(worker), 'EXTRA', stage.time.now());
  const party = { by: 'person', runId: stage.run.id, address: 'MAIN', name: drawOf(PEOPLE, seed, 'assigns') } as const;
  const answer = ledger.mail.send(party, draft);
  if (answer.sent) record.orders.push({ turn: undefined, task: 'EXTRA', id: answer.message.id });
}

export function assignment(to: string, task: string, now: number, type = 'implement'): MailDraft {
  const body = { task_type: type, files: [], success_criteria: ['it is there'], dependencies: [], summary: 'more' };
  return { to: [to], task_id: task, type: 'ask', action: 'assign', deadline: now + HOUR, body: JSON.stringify(body) };
}

export interface Asked {
  readonly seed: number;
  readonly weather: Weather;
  readonly stage: Stage | undefined;
  readonly question: string;
  readonly options: readonly string[];
  /** How often this was asked, from 1. */
  readonly time: number;
}

/** A person's answer to what the run asks. */
export function answerOf({ seed, weather, question, options, time }: Asked): string {
  if (options.length === 0) return 'as simply as possible';
  const luck = draw(seed, 'answer', question, time);
  const giveUp = options.at(-1) ?? '';
  // A command that cannot run on the commit that the run begins from.
  if (question.startsWith('engine/baseline/')) {
    const [again = '', keep = '', without = ''] = options;
    return luck < 0.45 ? keep : luck < 0.75 ? without : luck < 0.9 ? again : giveUp;
  }
  if (question.startsWith('engine/run-branch/')) {
    if (luck < 0.45) return 'restore';
    if (luck < 0.85 && options.includes('take in')) return 'take in';
    return weather.calm || luck < 0.85 ? 'restore' : giveUp;
  }
  return weather.calm || luck < 0.8 ? (options[0] ?? '') : giveUp;
}
