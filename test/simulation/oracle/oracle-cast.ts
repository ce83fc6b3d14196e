import type { FailureKind } from '../../../src/model/failure.ts';
import { addressOf } from '../../../src/model/mail/address.ts';
import type { MailDraft } from '../../../src/model/mail/envelope.ts';
import type { RunDefinition } from '../../../src/model/run.ts';
import { documentPath, documentText } from '../../support/objective-documents.ts';
import { draw, drawInt, drawOf } from '../world/draw.ts';
import { formOf, isReview, type Cast, type Cue, type Part } from '../world/simulated-agents.ts';
import type { Deed } from '../world/simulated-repository.ts';
import type { Stage } from '../world/stage.ts';
import { answerTo } from './answers.ts';
import { holds } from './commands.ts';
import type { Weather } from './oracle-plan.ts';
import type { WorldRecord } from './record.ts';
import { assignment, type People } from './strangers.ts';

export interface Troupe {
  readonly seed: number;
  readonly weather: Weather;
  readonly stage: Stage;
  readonly record: WorldRecord;
  readonly definition: Omit<RunDefinition, 'repository'>;
  readonly people: People;
}

const CHECK_MS = 700;
const FAILURES: readonly [FailureKind, ...FailureKind[]] = ['server-error', 'bad-output', 'crashed', 'model-refused'];

/** Agents and commands of one world. What each does follows from the seed; what it did goes on record. */
export function oracleCast(troupe: Troupe): Cast {
  const own = new Set<string>();
  return (cue) => {
    if (cue.runtime === 'check') return check(troupe, cue);
    if (cue.request.prompt.includes('your own clone of the repository')) own.add(cue.task);
    return play(troupe, cue, own.has(cue.task) && !isReview(cue.request));
  };
}

/** What a command says is what it says about the files of the folder that it runs in. */
function check({ seed, weather, stage, record, people }: Troupe, { request, task }: Cue): Part {
  const { git } = stage.repository;
  const { path } = request.workspace;
  const command = request.prompt;
  const commit = git.headOf(path);
  const passed = holds(command, git.filesIn(path) ?? new Map());
  record.checks.push({ id: request.turnId, command, commit, passed });
  const failure = { kind: 'bad-output' as const, message: 'exit 1', mayHaveActed: true };
  const ambushed = draw(seed, 'ambush', request.turnId) < weather.ambush && record.moved.length < 4;
  return {
    ms: CHECK_MS,
    result: passed
      ? { outcome: 'completed', text: 'ok' }
      : { outcome: 'failed', text: `${command} says no`, failure, exit: { code: 1, signal: null } },
    ...(ambushed ? { meanwhile: { afterMs: CHECK_MS / 2, act: () => people.moveBranch('check', task) } } : {}),
  };
}

function play(troupe: Troupe, cue: Cue, owns: boolean): Part {
  const { seed, weather, stage, record } = troupe;
  const { request, task, number } = cue;
  const form = formOf(request);
  const key = [task, form, number] as const;
  const ms = drawInt(100, 4_000, seed, 'ms', ...key);
  const stalled = form !== 'verdicts' && draw(seed, 'wall', ...key) < weather.walls;
  const fails = draw(seed, 'fails', ...key) < weather.failures;
  const lies = owns && draw(seed, 'lies', ...key) < weather.lies;
  const { answer, trouble } = answerTo(troupe, cue);
  const deed = owns && !fails && !lies ? deedOf(troupe, cue) : undefined;
  const [path, text] = Object.entries(deed?.writes ?? {})[0] ?? [];
  const uncommitted = deed?.commits === false ? 'it left its work uncommitted' : undefined;
  record.turns.push({
    id: request.turnId,
    task,
    agent: agentOf(cue),
    form,
    prompt: request.prompt,
    owns,
    commit: stage.repository.git.headOf(request.workspace.path),
    answer: fails ? undefined : answer,
    isDone: !fails,
    wrote: path === undefined || text === undefined ? undefined : { path, text },
    trouble: stalled ? 'it got nowhere' : fails ? 'it failed' : lies ? 'it did nothing' : (uncommitted ?? trouble),
  });
  const meanwhile = meanwhileOf(troupe, cue, owns && !fails, ms / 2);
  if (fails) {
    const kind = drawOf(FAILURES, seed, 'kind', ...key);
    const failure = { kind, message: `simulated: ${kind}`, mayHaveActed: true };
    return { ms, toolMs: ms / 4, result: { outcome: 'failed', failure } };
  }
  return {
    ms: stalled ? 400_000 : ms,
    ...(stalled ? {} : { toolMs: ms / 4 }),
    result: { outcome: 'completed', text: `${task} is done`, ...(answer === undefined ? {} : { structured: answer }) },
    ...(deed === undefined ? {} : { deed }),
    ...(meanwhile === undefined ? {} : { meanwhile }),
  };
}

/** A file of its own, whose text says which turn wrote it; now and then another's is deleted. */
function deedOf({ seed, weather, stage }: Troupe, { request, task, number }: Cue): Deed {
  const document = documentPath('simulated', task);
  const path = document ?? (/^(?:improve-\d+|answer-.*)$/.test(task) ? 'docs/design.md' : `${task}.txt`);
  const by = `by ${request.turnId}`;
  const files = [...(stage.repository.git.filesIn(request.workspace.path)?.keys() ?? [])];
  const others = files.filter((name) => name.endsWith('.txt') && name !== path);
  const removes = !weather.calm && draw(seed, 'removes', task, number) < 0.05 ? others.slice(-1) : [];
  return {
    // Who only commits what others did writes nothing.
    writes: task.endsWith('-commit')
      ? {}
      : { [path]: document === undefined ? `${task} ${by}` : documentText(task, by) },
    removes,
    merges: request.prompt.includes('cannot be merged'),
    commits: draw(seed, 'commits', task, number) < 0.9 || weather.calm,
  };
}

function meanwhileOf(troupe: Troupe, cue: Cue, works: boolean, afterMs: number): Part['meanwhile'] {
  const { seed, weather, record, people } = troupe;
  const { task, number, request } = cue;
  const form = formOf(request);
  const isWorst = form === 'verdicts' || isReview(cue.request);
  if (isWorst && draw(seed, 'ambush', task, form, number) < weather.ambush && record.moved.length < 4) {
    return { afterMs, act: () => people.moveBranch('turn', task, form, number) };
  }
  if (form === 'assignments summary' && weather.mail > 0) return { afterMs, act: () => assignByTool(troupe, cue) };
  if (!works || draw(seed, 'writes', task, number) >= weather.mail || record.orders.length >= 3) return undefined;
  return { afterMs, act: () => writeMail(troupe, cue) };
}

function agentOf({ request }: Cue): string {
  return /^You are ([\w-]+)\./.exec(request.instructions)?.[1] ?? '';
}

/** Work for another, or a question that its own task waits for. */
function writeMail(troupe: Troupe, cue: Cue): void {
  const { seed, weather, stage, definition } = troupe;
  const { task, number } = cue;
  const now = stage.time.now();
  const me = definition.agents.find(({ name }) => name === agentOf(cue));
  const asks = weather.playbook === 'council' || draw(seed, 'asks', task, number) < 0.3;
  if (asks) {
    if (task.startsWith('answer-') || number > 1) return;
    const body = { code_path: '-', question: 'how?', context: 'the work' };
    send(troupe, cue, { to: ['MAIN'], type: 'ask', action: 'clarify', body: JSON.stringify(body) });
    return;
  }
  const others = [...new Set(definition.agents.map(({ role }) => role))].filter((role) => role !== me?.role);
  const role = drawOf(['builder', ...others], seed, 'hands to', task, number);
  const target = definition.agents.find((other) => other.role === role && other.name !== me?.name);
  const draft = assignment(target === undefined ? role : addressOf(target), task, now, 'hand-off');
  const answer = send(troupe, cue, draft);
  if (answer !== undefined) troupe.record.orders.push({ turn: cue.request.turnId, task, id: answer });
}

/** Some of what MAIN assigns it says by a tool, and the rest, or the same again, in its answer. */
function assignByTool(troupe: Troupe, cue: Cue): void {
  const { stage, definition } = troupe;
  const member = definition.agents.find(({ role }) => role === 'member');
  if (member === undefined) return;
  const id = send(troupe, cue, assignment(addressOf(member), 'T-1', stage.time.now()));
  if (id !== undefined) troupe.record.orders.push({ turn: cue.request.turnId, task: cue.task, id });
}

function send({ stage, definition }: Troupe, cue: Cue, draft: MailDraft): string | undefined {
  const me = definition.agents.find(({ name }) => name === agentOf(cue));
  const mail = stage.ledger()?.mail;
  if (me === undefined || mail === undefined) return undefined;
  const party = { by: 'turn', runId: stage.run.id, address: addressOf(me), attemptId: cue.request.turnId } as const;
  const answer = mail.send(party, draft);
  return answer.sent ? answer.message.id : undefined;
}
