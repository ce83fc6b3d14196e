import type { FailureKind } from '../../../src/model/failure.ts';
import { draw, drawInt, drawOf } from '../world/draw.ts';
import { formOf, isReview, type Cast, type Cue, type Part } from '../world/simulated-agents.ts';
import { answerTo } from './answers.ts';
import { outcomeOfCommand } from './commands.ts';
import { doingOf } from './deeds.ts';
import { meanwhileOf } from './letters.ts';
import { agentOf, type Troupe } from './troupe.ts';
import { SLOW } from './record.ts';

const CHECK_MS = 700;
const STALL_MS = 400_000;
const FAILURES: readonly [FailureKind, ...FailureKind[]] = ['server-error', 'bad-output', 'crashed', 'model-refused'];

/** Agents and commands of one world. What each does follows from the seed; what it did goes on record. */
export function oracleCast(troupe: Troupe): Cast {
  const own = new Set<string>();
  const documents = new Map<string, string>();
  return (cue) => {
    const { request, task } = cue;
    if (cue.runtime === 'check') return check(troupe, cue);
    if (request.prompt.includes('your own clone of the repository')) own.add(task);
    const [, document] = /Write the document (\S+) in Markdown/.exec(request.prompt) ?? [];
    if (document !== undefined) documents.set(task, document);
    return play(troupe, cue, own.has(task) && !isReview(request), documents.get(task));
  };
}

/** What a command says is what it says about the files of the folder that it runs in. */
function check({ seed, weather, stage, record, people }: Troupe, { request, task }: Cue): Part {
  const { git } = stage.repository;
  const { path } = request.workspace;
  const command = request.prompt;
  const commit = git.headOf(path);
  const time = record.checks.filter((one) => one.command === command).length;
  const { code, text } = outcomeOfCommand(command, git.filesIn(path) ?? new Map(), draw(seed, 'flaky', command, time));
  const passed = code === 0;
  record.checks.push({ id: request.turnId, at: stage.time.now(), command, commit, passed });
  const failure = { kind: 'bad-output' as const, message: `exit ${code}`, mayHaveActed: true };
  const ambushed = draw(seed, 'ambush', request.turnId) < weather.ambush && record.moved.length < 4;
  return {
    ms: CHECK_MS,
    result: passed
      ? { outcome: 'completed', text: 'ok' }
      : { outcome: 'failed', text, failure, exit: { code, signal: null } },
    ...(ambushed ? { meanwhile: { afterMs: CHECK_MS / 2, act: () => people.moveBranch('check', task) } } : {}),
  };
}

function play(troupe: Troupe, cue: Cue, owns: boolean, document: string | undefined): Part {
  const { seed, weather, stage, record } = troupe;
  const { request, task, number } = cue;
  const form = formOf(request);
  const key = [task, form, number] as const;
  const ms = drawInt(100, 4_000, seed, 'ms', ...key);
  const stalled = form !== 'verdicts' && draw(seed, 'wall', ...key) < weather.walls;
  const fails = draw(seed, 'fails', ...key) < weather.failures;
  const { answer, trouble, open = [] } = answerTo(troupe, cue);
  const { deed, wrote, stray, trouble: ofDeed } = owns && !fails ? doingOf(troupe, cue, document) : NO_DEED;
  const kind = drawOf(FAILURES, seed, 'kind', ...key);
  const wrong = fails ? `simulated: ${kind}` : stalled ? SLOW : ofDeed;
  record.turns.push({
    id: request.turnId,
    at: stage.time.now(),
    ms: stalled && !fails ? STALL_MS : ms,
    task,
    agent: agentOf(cue),
    form,
    prompt: request.prompt,
    owns,
    commit: stage.repository.git.headOf(request.workspace.path),
    answer: fails ? undefined : answer,
    isDone: !fails,
    wrote,
    removed: (deed?.removes ?? []).length > 0,
    stray,
    open: fails ? [] : open,
    trouble: wrong ?? trouble,
    wrong,
  });
  const meanwhile = meanwhileOf(troupe, cue, owns, !fails && !stalled, ms / 2);
  if (fails) {
    const failure = { kind, message: `simulated: ${kind}`, mayHaveActed: true };
    return { ms, toolMs: ms / 4, result: { outcome: 'failed', failure } };
  }
  return {
    ms: stalled ? STALL_MS : ms,
    ...(stalled ? {} : { toolMs: ms / 4 }),
    result: { outcome: 'completed', text: `${task} is done`, ...(answer === undefined ? {} : { structured: answer }) },
    ...(deed === undefined ? {} : { deed }),
    ...(meanwhile === undefined ? {} : { meanwhile }),
  };
}

const NO_DEED = { deed: undefined, wrote: undefined, stray: undefined, trouble: undefined } as const;
