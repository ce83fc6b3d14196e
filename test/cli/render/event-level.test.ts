import { expect, it } from 'vitest';
import { isShown, levelOf, type LogLevel } from '../../../src/cli/render/event-level.ts';
import { runEventSchema, type RunEvent } from '../../../src/model/run-event.ts';

const where = { at: 1, runId: 'r' };
const turn = { ...where, attemptId: 'r.1.a-1', task: 'a', agent: 'ada' };
const ended = { ...turn, type: 'attempt-ended', durationMs: 1 };
const task = { ...where, type: 'task-changed', task: 'a', title: 'A', role: 'builder', round: 1 };

function stage(state: string, change: string): object {
  const spec = { id: 'SPEC', title: 'Spec', state, by: [], tasks: ['spec'] };
  return { ...where, type: 'stage-changed', stage: spec, place: 3, of: 13, change };
}

it.each<[object, LogLevel]>([
  [{ ...where, type: 'question-asked', question: 'q', text: 't', options: [], tasks: [] }, 'warn'],
  [{ ...ended, kind: 'turn', outcome: 'failed' }, 'warn'],
  [{ ...ended, kind: 'turn', outcome: 'completed' }, 'info'],
  [{ ...ended, kind: 'check', outcome: 'completed' }, 'debug'],
  [{ ...ended, kind: 'check', outcome: 'failed' }, 'warn'],
  [{ ...task, status: 'failed' }, 'warn'],
  [{ ...task, status: 'live' }, 'info'],
  [stage('live', 'state'), 'info'],
  [stage('live', 'rounds'), 'info'],
  [stage('failed', 'state'), 'warn'],
  [stage('waiting', 'state'), 'debug'],
  [stage('live', 'agents'), 'debug'],
  [{ ...where, type: 'decided', next: 'start', why: 'w' }, 'debug'],
  [{ ...where, type: 'decided', next: 'finish', why: 'w' }, 'info'],
  [{ ...where, type: 'decided', next: 'wait', why: 'w' }, 'debug'],
  [{ ...where, type: 'decided', next: 'wait', why: 'w', until: 2 }, 'info'],
  [{ ...where, type: 'task-returned', task: 'a', from: 'conflict', why: 'w' }, 'warn'],
  [{ ...turn, type: 'thinking', text: 'hm' }, 'debug'],
  [{ ...turn, type: 'text', text: 'hi', delta: false }, 'info'],
])('%j is told at %s', (event, level) => {
  const read: RunEvent = runEventSchema.parse(event);
  expect(levelOf(read)).toBe(level);
});

it('shows what matters as much as was chosen, or more', () => {
  expect(isShown('warn', 'info')).toBe(true);
  expect(isShown('info', 'info')).toBe(true);
  expect(isShown('debug', 'info')).toBe(false);
});
