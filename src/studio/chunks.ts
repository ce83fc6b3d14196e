import type { StateSnapshot } from '@langchain/langgraph';

/** A piece of a stream: a mode of LangGraph, and what it carries. */
export type Chunk = readonly [mode: string, payload: unknown];

/** As LangGraph streams when it stores this checkpoint. */
export function checkpointChunks(snapshot: StateSnapshot): Chunk[] {
  const { config, values, metadata, next, tasks, parentConfig } = snapshot;
  const payload = { config, values, metadata, next, tasks, parentConfig };
  const starts = tasks.map(({ id, name, interrupts }) => ({ id, name, interrupts, input: values, triggers: [] }));
  return [
    ['values', valuesOf(snapshot)],
    ['checkpoints', payload],
    debugOf(snapshot, 'checkpoint', payload),
    ...starts.flatMap((start): Chunk[] => [['tasks', start], debugOf(snapshot, 'task', start)]),
  ];
}

/** As LangGraph streams when the tasks of this checkpoint end. Leaves out those that have no result yet. */
export function resultChunks(snapshot: StateSnapshot): Chunk[] {
  return snapshot.tasks.flatMap(({ id, name, result, error, interrupts }): Chunk[] => {
    if (result === undefined && error === undefined) return [];
    const end = { id, name, result: result ?? {}, error: error ?? null, interrupts };
    return [['tasks', end], debugOf(snapshot, 'task_result', end), ['updates', { [name]: result ?? null }]];
  });
}

/** As LangGraph streams when it stops at the interrupts of the state; empty without any. */
export function interruptChunks(snapshot: StateSnapshot): Chunk[] {
  const interrupts = interruptsOf(snapshot);
  return interrupts.length === 0 ? [] : [['updates', { __interrupt__: interrupts }]];
}

function valuesOf(snapshot: StateSnapshot): unknown {
  const interrupts = interruptsOf(snapshot);
  return interrupts.length === 0 ? snapshot.values : { ...(snapshot.values as object), __interrupt__: interrupts };
}

function interruptsOf({ tasks }: StateSnapshot): unknown[] {
  return tasks.flatMap(({ interrupts }) => interrupts);
}

function debugOf({ metadata, createdAt }: StateSnapshot, type: string, payload: unknown): Chunk {
  const step = (metadata?.step ?? -1) + (type === 'checkpoint' ? 0 : 1);
  return ['debug', { step, type, timestamp: createdAt, payload }];
}
