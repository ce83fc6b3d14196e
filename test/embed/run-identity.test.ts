import { describe, expect, it } from 'vitest';
import { chooseRunId, identityOf, type CallPlace, type RunIdentity } from '../../src/embed/run-identity.ts';
import type { SquadRequest } from '../../src/exports/langgraph.ts';

const REQUEST: SquadRequest = { objective: { text: 'x' }, playbook: 'pages', limits: { turns: 1, usd: 2 } };

function identity(place: Partial<CallPlace> = {}, request: SquadRequest = REQUEST): RunIdentity {
  const found = identityOf({ threadId: 'theirs', checkpointNs: 'build:t1|choose_run:t2', ...place }, request);
  if (found === undefined) throw new Error('no identity');
  return found;
}

describe('the id of a run that a graph calls for', () => {
  const { runId, family } = identity();

  it('is a UUID that begins with its family', () => {
    expect(runId).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(runId.startsWith(family)).toBe(true);
  });

  it.each<[string, Partial<CallPlace>, SquadRequest?]>([
    ['the graph of the run begins again', { checkpointNs: 'build:t1|choose_run:t9' }],
    [
      'a checkpoint keeps the request in another order',
      {},
      { limits: { usd: 2, turns: 1 }, playbook: 'pages', objective: { text: 'x' } },
    ],
    ['a checkpoint drops what is not there', {}, { ...REQUEST, name: undefined }],
  ])('is the same where %s', (_, place, request = REQUEST) => {
    expect(identity(place, request)).toEqual({ runId, family });
  });

  it.each<[string, Partial<CallPlace>]>([
    ['another task of the parent', { checkpointNs: 'build:t9|choose_run:t2' }],
    ['a later visit of a graph above', { checkpointNs: 'sub:t0|build:t1|choose_run:t2' }],
  ])('is another one for %s', (_, place) => {
    expect(identity(place).runId).not.toBe(runId);
  });

  it('has the same family for another task of the same node, and another one elsewhere', () => {
    expect(identity({ checkpointNs: 'build:t9|choose_run:t2' }).family).toBe(family);
    const others = [
      identity({ threadId: 'another' }),
      identity({ checkpointNs: 'test:t1|choose_run:t2' }),
      identity({}, { ...REQUEST, objective: { text: 'y' } }),
      identity({}, { ...REQUEST, objective: 'x' }),
    ];
    expect(new Set([family, ...others.map((one) => one.family)]).size).toBe(5);
  });

  it('follows from the task of the graph itself where it is no part of another', () => {
    const one = identity({ checkpointNs: 'choose_run:t1' });
    expect(identity({ checkpointNs: 'choose_run:t2' }).runId).not.toBe(one.runId);
    expect(identity({ checkpointNs: 'choose_run:t2' }).family).toBe(one.family);
  });

  it('follows from the call of a tool, in whatever task', () => {
    const call = identity({ toolCallId: 'call-1' });
    expect(identity({ toolCallId: 'call-1', checkpointNs: 'build:t9|choose_run:t2' })).toEqual(call);
    expect(identity({ toolCallId: 'call-2' }).runId).not.toBe(call.runId);
    expect(identity({ toolCallId: 'call-1', threadId: 'another' }).runId).not.toBe(call.runId);
    const alone = identity({ toolCallId: 'call-1', threadId: undefined });
    expect(identity({ toolCallId: 'call-2', threadId: undefined }).family).not.toBe(alone.family);
  });

  it('is none where nothing of the graph is kept', () => {
    expect(identityOf({ threadId: undefined, checkpointNs: 'choose_run:t1' }, REQUEST)).toBeUndefined();
  });

  it.each<[string, Parameters<typeof chooseRunId>[1], string]>([
    ['there is no run', [], runId],
    ['its own is over', [{ runId, need: null }], runId],
    ['one of its family is over', [{ runId: `${family}000-000000000000`, need: null }], runId],
    [
      'one of its family was cut short',
      [{ runId: `${family}000-000000000000`, need: 'cut' }],
      `${family}000-000000000000`,
    ],
    [
      'its own is there besides one that was cut short',
      [
        { runId: `${family}000-000000000000`, need: 'cut' },
        { runId, need: 'gone' },
      ],
      runId,
    ],
    ['another run was cut short', [{ runId: '0f8fad5b-d9cb-469f-a165-70867728950e', need: 'cut' }], runId],
  ])('is chosen where %s', (_, runs, chosen) => {
    expect(chooseRunId({ runId, family }, runs)).toBe(chosen);
  });
});
